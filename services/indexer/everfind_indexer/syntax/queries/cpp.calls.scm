(call_expression function: (qualified_identifier) @call)
(call_expression function: (template_function name: (identifier) @call))
(call_expression
  function: (field_expression argument: (_) @receiver field: (template_method name: (field_identifier) @call)))
(new_expression type: (type_identifier) @call)

(using_declaration) @import

(parameter_declaration type: (_) @type declarator: [
  (identifier) @bound
  (pointer_declarator declarator: (identifier) @bound)
  (reference_declarator (identifier) @bound)
])
(declaration type: (_) @type declarator: [
  (identifier) @bound
  (pointer_declarator declarator: (identifier) @bound)
  (init_declarator declarator: (identifier) @bound)
  (init_declarator declarator: (pointer_declarator declarator: (identifier) @bound))
])
(declaration declarator: (init_declarator
  declarator: [(identifier) @bound (pointer_declarator declarator: (identifier) @bound)]
  value: (new_expression type: (_) @type)))
(field_declaration type: (_) @type declarator: [
  (field_identifier) @field
  (pointer_declarator declarator: (field_identifier) @field)
])
