(function_declaration name: [
  (identifier) @name
  (dot_index_expression field: (identifier) @name)
  (method_index_expression method: (identifier) @name)
]) @definition.function
(assignment_statement
  (variable_list name: [(identifier) @name (dot_index_expression field: (identifier) @name)])
  (expression_list value: (function_definition))) @definition.function
(field name: (identifier) @name value: (function_definition)) @definition.function
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @definition.constant)

(chunk (_) @item)
(block (_) @item)
(table_constructor (field) @item)

(comment) @prelude
