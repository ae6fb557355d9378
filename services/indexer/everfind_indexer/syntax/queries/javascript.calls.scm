(class_heritage (identifier) @reference)
(class_heritage (member_expression object: (_) @receiver property: (property_identifier) @reference))
