(class_definition name: (identifier) @name) @definition.class
(object_definition name: (identifier) @name) @definition.class
(trait_definition name: (identifier) @name) @definition.trait
(enum_definition name: (identifier) @name) @definition.enum
(function_definition name: (identifier) @name) @definition.function
(function_declaration name: (identifier) @name) @definition.function
(type_definition name: (type_identifier) @name) @definition.type
(given_definition name: (identifier) @name) @definition.constant
(val_definition pattern: (identifier) @name) @definition.constant

(compilation_unit (_) @item)
(template_body (_) @item)
(enum_body (_) @item)
(block (_) @item)
(indented_block (_) @item)
(case_block (_) @item)
(indented_cases (_) @item)

[(comment) (block_comment)] @prelude
(annotation) @prelude
