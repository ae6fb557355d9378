(class_declaration "class" name: (type_identifier) @name) @definition.class
(class_declaration "actor" name: (type_identifier) @name) @definition.class
(class_declaration "struct" name: (type_identifier) @name) @definition.struct
(class_declaration "enum" name: (type_identifier) @name) @definition.enum
(class_declaration "extension" name: (user_type (type_identifier) @name)) @definition.extension
(protocol_declaration name: (type_identifier) @name) @definition.interface
(function_declaration name: (simple_identifier) @name) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.method
(init_declaration "init" @name) @definition.method
(deinit_declaration) @definition.method
(subscript_declaration) @definition.method
(typealias_declaration name: (type_identifier) @name) @definition.type
(source_file
  (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)
(class_body
  (property_declaration
    name: (pattern bound_identifier: (simple_identifier) @name)
    computed_value: (_)) @definition.property)

(source_file (_) @item)
(statements (_) @item)
(class_body (_) @item)
(enum_class_body (_) @item)
(protocol_body (_) @item)
(switch_statement (switch_entry) @item)

[(comment) (multiline_comment)] @prelude
