(extends_clause value: (identifier) @reference)
(extends_clause value: (member_expression object: (_) @receiver property: (property_identifier) @reference))
(type_identifier) @reference

(required_parameter pattern: (identifier) @bound type: (type_annotation (_) @type))
(required_parameter (accessibility_modifier) pattern: (identifier) @field type: (type_annotation (_) @type))
(optional_parameter pattern: (identifier) @bound type: (type_annotation (_) @type))
(variable_declarator name: (identifier) @bound type: (type_annotation (_) @type))
(public_field_definition name: (property_identifier) @field type: (type_annotation (_) @type))
(public_field_definition name: (property_identifier) @field value: (new_expression constructor: (_) @type))
