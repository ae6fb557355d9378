(function_definition name: (identifier) @name) @definition.function
(class_definition name: (identifier) @name) @definition.class
(type_alias_statement left: (type (identifier) @name)) @definition.type
(module (expression_statement (assignment left: (identifier) @name)) @definition.constant)

(module (_) @item)
(block (_) @item)
(match_statement body: (block (case_clause) @item))

(comment) @prelude
(decorator) @prelude
