(function_declaration name: (identifier) @name) @definition.function
(method_declaration name: (field_identifier) @name) @definition.method
(type_spec name: (type_identifier) @name type: (struct_type)) @definition.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @definition.interface
(type_spec
  name: (type_identifier) @name
  type: [
    (type_identifier) (qualified_type) (function_type) (map_type) (slice_type) (array_type) (pointer_type)
    (channel_type) (generic_type)
  ]) @definition.type
(type_alias name: (type_identifier) @name) @definition.type
(source_file (const_declaration (const_spec name: (identifier) @name)) @definition.constant)
(source_file (var_declaration (var_spec name: (identifier) @name)) @definition.constant)
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name))) @definition.constant)

(source_file (_) @item)
(statement_list (_) @item)
(expression_switch_statement [(expression_case) (default_case)] @item)
(type_switch_statement [(type_case) (default_case)] @item)
(select_statement [(communication_case) (default_case)] @item)
(field_declaration_list (_) @item)
(interface_type (_) @item)
(const_declaration (const_spec) @item)
(var_spec_list (_) @item)
(type_declaration (_) @item)
(import_spec_list (_) @item)
(literal_value (_) @item)

(comment) @prelude
