(function_call_expression function: [(name) @call (qualified_name (name) @call)])
(member_call_expression object: (_) @receiver name: (name) @call)
(nullsafe_member_call_expression object: (_) @receiver name: (name) @call)
(scoped_call_expression scope: (_) @receiver name: (name) @call)
(object_creation_expression [(name) @call (qualified_name (name) @call)])

(base_clause [(name) @reference (qualified_name (name) @reference)])
(class_interface_clause [(name) @reference (qualified_name (name) @reference)])
(use_declaration [(name) @reference (qualified_name (name) @reference)])
(named_type [(name) @reference (qualified_name (name) @reference)])
(attribute [(name) @reference (qualified_name (name) @reference)])
(class_constant_access_expression . (name) @reference)

(namespace_use_declaration) @import

(simple_parameter type: (_) @type name: (variable_name (name) @bound))
(property_promotion_parameter type: (_) @type name: (variable_name (name) @field))
(property_declaration type: (_) @type (property_element name: (variable_name (name) @field)))
(assignment_expression
  left: [(variable_name (name) @bound) (member_access_expression name: (name) @field)]
  right: (object_creation_expression [(name) (qualified_name)] @type))
