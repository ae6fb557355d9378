(function_definition name: (name) @name) @definition.function
(method_declaration name: (name) @name) @definition.method
(class_declaration name: (name) @name) @definition.class
(interface_declaration name: (name) @name) @definition.interface
(trait_declaration name: (name) @name) @definition.trait
(enum_declaration name: (name) @name) @definition.enum
(namespace_definition name: (namespace_name) @name body: (_)) @definition.module
(const_declaration (const_element (name) @name)) @definition.constant
(property_declaration (property_element name: (variable_name (name) @name))) @definition.constant

(program (_) @item)
(compound_statement (_) @item)
(declaration_list (_) @item)
(enum_declaration_list (_) @item)
(switch_block (_) @item)
(case_statement (_) @item)
(default_statement (_) @item)

(comment) @prelude
