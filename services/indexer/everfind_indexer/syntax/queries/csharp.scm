(class_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(struct_declaration name: (identifier) @name) @definition.struct
(interface_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(delegate_declaration name: (identifier) @name) @definition.type
(namespace_declaration name: (_) @name) @definition.module
(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name) @definition.method
(destructor_declaration name: (identifier) @name) @definition.method
(local_function_statement name: (identifier) @name) @definition.function
(property_declaration name: (identifier) @name) @definition.property
(operator_declaration) @definition.method
(indexer_declaration) @definition.method
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.constant

(compilation_unit (_) @item)
(declaration_list (_) @item)
(block (_) @item)
(accessor_list (_) @item)
(enum_member_declaration_list (_) @item)
(switch_body (_) @item)
(switch_section (_) @item)

(comment) @prelude
