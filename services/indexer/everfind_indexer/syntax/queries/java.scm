(class_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(annotation_type_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name) @definition.method
(compact_constructor_declaration name: (identifier) @name) @definition.method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.constant

(program (_) @item)
(block (_) @item)
(constructor_body (_) @item)
(class_body (_) @item)
(interface_body (_) @item)
(annotation_type_body (_) @item)
(enum_body (_) @item)
(enum_body_declarations (_) @item)
(switch_block (_) @item)
(switch_block_statement_group (_) @item)

[(line_comment) (block_comment)] @prelude
