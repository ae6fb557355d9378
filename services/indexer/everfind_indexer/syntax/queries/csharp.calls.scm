(invocation_expression function: (identifier) @call)
(invocation_expression function: (generic_name (identifier) @call))
(invocation_expression function: (member_access_expression expression: (_) @receiver name: (identifier) @call))
(invocation_expression
  function: (member_access_expression expression: (_) @receiver name: (generic_name (identifier) @call)))
(invocation_expression
  function: (conditional_access_expression
    condition: (_) @receiver
    (member_binding_expression name: (identifier) @call)))
(object_creation_expression type: [
  (identifier) @call
  (generic_name (identifier) @call)
  (qualified_name name: (identifier) @call)
])

(base_list [(identifier) @reference (generic_name (identifier) @reference)])
(attribute name: (identifier) @reference)
(type_argument_list (identifier) @reference)
(parameter type: [(identifier) @reference (generic_name (identifier) @reference)])
(variable_declaration type: [(identifier) @reference (generic_name (identifier) @reference)])
(property_declaration type: [(identifier) @reference (generic_name (identifier) @reference)])
(method_declaration returns: [(identifier) @reference (generic_name (identifier) @reference)])
(typeof_expression type: (identifier) @reference)
(cast_expression type: (identifier) @reference)
(argument (identifier) @handed)

(using_directive) @import

(parameter type: (_) @type name: (identifier) @bound)
(local_declaration_statement
  (variable_declaration type: (_) @type (variable_declarator name: (identifier) @bound)))
(variable_declarator name: (identifier) @bound (object_creation_expression type: (_) @type))
(field_declaration (variable_declaration type: (_) @type (variable_declarator name: (identifier) @field)))
(property_declaration type: (_) @type name: (identifier) @field)
