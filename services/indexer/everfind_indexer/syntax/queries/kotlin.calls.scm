(call_expression . (identifier) @call)
(call_expression . (navigation_expression . (_) @receiver (identifier) @call .))
(delegation_specifier (constructor_invocation (user_type (identifier) @call . (type_arguments)? .)))
(infix_expression . (_) @receiver . (identifier) @call)

(callable_reference (identifier) @reference .)
(navigation_expression . (_) @receiver "::" (identifier) @reference .)
(user_type (identifier) @reference . (type_arguments)? .)
(value_argument . (identifier) @handed .)

(import) @import

(parameter (identifier) @bound [(user_type) (nullable_type)] @type)
(class_parameter (identifier) @field [(user_type) (nullable_type)] @type)
(property_declaration (variable_declaration (identifier) @bound [(user_type) (nullable_type)] @type))
(property_declaration (variable_declaration (identifier) @bound) (call_expression . (identifier) @type))
(class_body (property_declaration (variable_declaration (identifier) @field [(user_type) (nullable_type)] @type)))
(class_body (property_declaration (variable_declaration (identifier) @field) (call_expression . (identifier) @type)))
