(class_declaration "interface" name: (identifier) @name) @definition.interface
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name) @definition.enum
(class_declaration name: (identifier) @name) @definition.class
(object_declaration name: (identifier) @name) @definition.class
(companion_object) @definition.class
(function_declaration name: (identifier) @name) @definition.function
(secondary_constructor) @definition.method
(type_alias type: (identifier) @name) @definition.type
(source_file (property_declaration (variable_declaration (identifier) @name)) @definition.constant)

(source_file (_) @item)
(block (_) @item)
(class_body (_) @item)
(enum_class_body (_) @item)
(lambda_literal (_) @item)
(when_expression (when_entry) @item)

[(line_comment) (block_comment)] @prelude
(annotation) @prelude
