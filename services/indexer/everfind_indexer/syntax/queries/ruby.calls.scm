(call !receiver method: [(identifier) (constant)] @call)
(call receiver: (_) @receiver method: [(identifier) (constant)] @call)

(superclass [(constant) @reference (scope_resolution name: (constant) @reference)])
(argument_list (constant) @reference)
(exceptions (constant) @reference)
(argument_list (simple_symbol) @handed)
(body_statement (identifier) @handed)

(assignment
  left: [(identifier) @bound (instance_variable) @field]
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier) @_new)
  (#eq? @_new "new"))
