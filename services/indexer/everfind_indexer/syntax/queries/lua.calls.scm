(function_call name: (identifier) @call)
(function_call name: (dot_index_expression table: (_) @receiver field: (identifier) @call))
(function_call name: (method_index_expression table: (_) @receiver method: (identifier) @call))

(arguments (identifier) @handed)

(variable_declaration (assignment_statement
  (expression_list value: (function_call name: (identifier) @_require)))
  (#eq? @_require "require")) @import

(function_declaration name: [
  (dot_index_expression table: (_) @scope field: (_) @scoped)
  (method_index_expression table: (_) @scope method: (_) @scoped)
])

(assignment_statement
  (variable_list name: (identifier) @bound)
  (expression_list value: (function_call name: [
    (dot_index_expression table: (_) @type field: (identifier) @_new)
    (method_index_expression table: (_) @type method: (identifier) @_new)
  ]))
  (#eq? @_new "new"))
