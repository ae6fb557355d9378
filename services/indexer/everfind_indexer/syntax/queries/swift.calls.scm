(call_expression . (simple_identifier) @call)
(call_expression . (navigation_expression
  target: (_) @receiver
  suffix: (navigation_suffix suffix: (simple_identifier) @call)))
(constructor_expression constructed_type: (user_type (type_identifier) @call . (type_arguments)? .))

(user_type (type_identifier) @reference)
(value_argument value: (simple_identifier) @handed)

(parameter name: (simple_identifier) @bound (user_type) @type)
(parameter name: (simple_identifier) @bound (optional_type) @type)
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @bound)
  (type_annotation (_) @type))
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @bound)
  value: (call_expression . (simple_identifier) @type))
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @bound)
  value: (constructor_expression constructed_type: (_) @type))
(class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @field)
  (type_annotation (_) @type)))
(class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @field)
  value: (call_expression . (simple_identifier) @type)))
(class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @field)
  value: (constructor_expression constructed_type: (_) @type)))
