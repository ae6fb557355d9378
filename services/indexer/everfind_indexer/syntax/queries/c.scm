(function_definition declarator: (function_declarator declarator: (identifier) @name)) @definition.function
(function_definition
  declarator: (_ declarator: (function_declarator declarator: (identifier) @name))) @definition.function
(function_definition
  declarator: (_ declarator: (_ declarator: (function_declarator declarator: (identifier) @name)))) @definition.function
(struct_specifier name: (type_identifier) @name body: (_)) @definition.struct
(union_specifier name: (type_identifier) @name body: (_)) @definition.struct
(enum_specifier name: (type_identifier) @name body: (_)) @definition.enum
(type_definition
  type: (_ body: (_)) 
  declarator: (type_identifier) @name) @definition.type
(preproc_function_def name: (identifier) @name) @definition.macro
(translation_unit
  (declaration declarator: (init_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
  ])) @definition.constant)

(translation_unit (_) @item)
(compound_statement (_) @item)
(case_statement (_) @item)
(labeled_statement (_) @item)
(field_declaration_list (_) @item)
(enumerator_list (_) @item)
(preproc_if (_) @item)
(preproc_ifdef (_) @item)
(preproc_else (_) @item)
(preproc_elif (_) @item)
(initializer_list (_) @item)

(comment) @prelude
