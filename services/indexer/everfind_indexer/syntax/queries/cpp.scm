(function_definition
  declarator: [
    (function_declarator declarator: [
      (identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name) (template_function)
    ] @name)
    (_ declarator: (function_declarator declarator: [
      (identifier) (field_identifier) (qualified_identifier) (operator_name)
    ] @name))
    (reference_declarator (function_declarator declarator: [
      (identifier) (field_identifier) (qualified_identifier) (operator_name)
    ] @name))
    (operator_cast) @name
    (qualified_identifier) @name
  ]) @definition.function
(class_specifier name: (_) @name body: (_)) @definition.class
(struct_specifier name: (_) @name body: (_)) @definition.struct
(union_specifier name: (_) @name body: (_)) @definition.struct
(enum_specifier name: (_) @name body: (_)) @definition.enum
(namespace_definition name: (_) @name) @definition.module
(alias_declaration name: (type_identifier) @name) @definition.type
(concept_definition name: (identifier) @name) @definition.interface
(type_definition type: (_ body: (_)) declarator: (type_identifier) @name) @definition.type
(preproc_function_def name: (identifier) @name) @definition.macro
(translation_unit
  (declaration declarator: (init_declarator declarator: [
    (identifier) @name
    (array_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (identifier) @name)
  ])) @definition.constant)

(translation_unit (_) @item)
(declaration_list (_) @item)
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
(template_declaration "template" @prelude)
