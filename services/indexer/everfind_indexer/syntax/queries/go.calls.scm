(call_expression function: (identifier) @call)
(call_expression function: (selector_expression operand: (_) @receiver field: (field_identifier) @call))

(type_identifier) @reference
(argument_list (identifier) @handed)
(keyed_element (literal_element (identifier) @handed))

(import_spec) @import

(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @scope)) name: (_) @scoped)

(parameter_declaration name: (identifier) @bound type: (_) @type)
(var_spec name: (identifier) @bound type: (_) @type)
(field_declaration name: (field_identifier) @field type: (_) @type)
(short_var_declaration
  left: (expression_list . (identifier) @bound .)
  right: (expression_list . [
    (composite_literal type: (_) @type)
    (unary_expression operand: (composite_literal type: (_) @type))
  ] .))
