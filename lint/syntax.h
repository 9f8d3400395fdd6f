/* Names for the grammar's node kinds and fields, and the questions rules ask of a node. */
#ifndef HW_LINT_SYNTAX_H
#define HW_LINT_SYNTAX_H

#include <stdbool.h>
#include <stdint.h>

#include <tree_sitter/api.h>

/* Every node kind that the linter tells apart: HW_NODE(constant, name in the grammar). */
#define HW_NODES(HW_NODE)                                                                                                      \
    HW_NODE(MODULE, "module")                                                                                                  \
    HW_NODE(BLOCK, "block")                                                                                                    \
    HW_NODE(COMMENT, "comment")                                                                                                \
    HW_NODE(EXPRESSION_STATEMENT, "expression_statement")                                                                      \
    HW_NODE(ASSIGNMENT, "assignment")                                                                                          \
    HW_NODE(AUGMENTED_ASSIGNMENT, "augmented_assignment")                                                                      \
    HW_NODE(RETURN, "return_statement")                                                                                        \
    HW_NODE(DELETE, "delete_statement")                                                                                        \
    HW_NODE(RAISE, "raise_statement")                                                                                          \
    HW_NODE(PASS, "pass_statement")                                                                                            \
    HW_NODE(BREAK, "break_statement")                                                                                          \
    HW_NODE(CONTINUE, "continue_statement")                                                                                    \
    HW_NODE(GLOBAL, "global_statement")                                                                                        \
    HW_NODE(NONLOCAL, "nonlocal_statement")                                                                                    \
    HW_NODE(IMPORT, "import_statement")                                                                                        \
    HW_NODE(IMPORT_FROM, "import_from_statement")                                                                              \
    HW_NODE(FUTURE_IMPORT, "future_import_statement")                                                                          \
    HW_NODE(ALIASED_IMPORT, "aliased_import")                                                                                  \
    HW_NODE(WILDCARD_IMPORT, "wildcard_import")                                                                                \
    HW_NODE(DOTTED_NAME, "dotted_name")                                                                                        \
    HW_NODE(RELATIVE_IMPORT, "relative_import")                                                                                \
    HW_NODE(IMPORT_PREFIX, "import_prefix")                                                                                    \
    HW_NODE(ASSERT, "assert_statement")                                                                                        \
    HW_NODE(PRINT, "print_statement")                                                                                          \
    HW_NODE(EXEC, "exec_statement")                                                                                            \
    HW_NODE(TYPE_ALIAS, "type_alias_statement")                                                                                \
    HW_NODE(IF, "if_statement")                                                                                                \
    HW_NODE(ELIF, "elif_clause")                                                                                               \
    HW_NODE(ELSE, "else_clause")                                                                                               \
    HW_NODE(FOR, "for_statement")                                                                                              \
    HW_NODE(WHILE, "while_statement")                                                                                          \
    HW_NODE(TRY, "try_statement")                                                                                              \
    HW_NODE(EXCEPT, "except_clause")                                                                                           \
    HW_NODE(EXCEPT_GROUP, "except_group_clause")                                                                               \
    HW_NODE(FINALLY, "finally_clause")                                                                                         \
    HW_NODE(WITH, "with_statement")                                                                                            \
    HW_NODE(WITH_CLAUSE, "with_clause")                                                                                        \
    HW_NODE(WITH_ITEM, "with_item")                                                                                            \
    HW_NODE(FUNCTION, "function_definition")                                                                                   \
    HW_NODE(CLASS, "class_definition")                                                                                         \
    HW_NODE(DECORATED, "decorated_definition")                                                                                 \
    HW_NODE(DECORATOR, "decorator")                                                                                            \
    HW_NODE(MATCH, "match_statement")                                                                                          \
    HW_NODE(CASE, "case_clause")                                                                                               \
    HW_NODE(IF_CLAUSE, "if_clause")                                                                                            \
    HW_NODE(FOR_IN_CLAUSE, "for_in_clause")                                                                                    \
    HW_NODE(IDENTIFIER, "identifier")                                                                                          \
    HW_NODE(ATTRIBUTE, "attribute")                                                                                            \
    HW_NODE(CALL, "call")                                                                                                      \
    HW_NODE(ARGUMENTS, "argument_list")                                                                                        \
    HW_NODE(KEYWORD_ARGUMENT, "keyword_argument")                                                                              \
    HW_NODE(SUBSCRIPT, "subscript")                                                                                            \
    HW_NODE(SLICE, "slice")                                                                                                    \
    HW_NODE(BINARY, "binary_operator")                                                                                         \
    HW_NODE(UNARY, "unary_operator")                                                                                           \
    HW_NODE(BOOLEAN, "boolean_operator")                                                                                       \
    HW_NODE(NOT, "not_operator")                                                                                               \
    HW_NODE(COMPARISON, "comparison_operator")                                                                                 \
    HW_NODE(CONDITIONAL, "conditional_expression")                                                                             \
    HW_NODE(LAMBDA, "lambda")                                                                                                  \
    HW_NODE(NAMED, "named_expression")                                                                                         \
    HW_NODE(AWAIT, "await")                                                                                                    \
    HW_NODE(YIELD, "yield")                                                                                                    \
    HW_NODE(LIST, "list")                                                                                                      \
    HW_NODE(TUPLE, "tuple")                                                                                                    \
    HW_NODE(SET, "set")                                                                                                        \
    HW_NODE(DICTIONARY, "dictionary")                                                                                          \
    HW_NODE(PAIR, "pair")                                                                                                      \
    HW_NODE(EXPRESSION_LIST, "expression_list")                                                                                \
    HW_NODE(PATTERN_LIST, "pattern_list")                                                                                      \
    HW_NODE(TUPLE_PATTERN, "tuple_pattern")                                                                                    \
    HW_NODE(LIST_PATTERN, "list_pattern")                                                                                      \
    HW_NODE(LIST_SPLAT_PATTERN, "list_splat_pattern")                                                                          \
    HW_NODE(DICTIONARY_SPLAT_PATTERN, "dictionary_splat_pattern")                                                              \
    HW_NODE(LIST_SPLAT, "list_splat")                                                                                          \
    HW_NODE(DICTIONARY_SPLAT, "dictionary_splat")                                                                              \
    HW_NODE(AS_PATTERN, "as_pattern")                                                                                          \
    HW_NODE(AS_PATTERN_TARGET, "as_pattern_target")                                                                            \
    HW_NODE(PARENTHESIZED, "parenthesized_expression")                                                                         \
    HW_NODE(LIST_COMPREHENSION, "list_comprehension")                                                                          \
    HW_NODE(SET_COMPREHENSION, "set_comprehension")                                                                            \
    HW_NODE(DICTIONARY_COMPREHENSION, "dictionary_comprehension")                                                              \
    HW_NODE(GENERATOR, "generator_expression")                                                                                 \
    HW_NODE(STRING, "string")                                                                                                  \
    HW_NODE(STRING_CONTENT, "string_content")                                                                                  \
    HW_NODE(INTERPOLATION, "interpolation")                                                                                    \
    HW_NODE(FORMAT_SPECIFIER, "format_specifier")                                                                              \
    HW_NODE(CONCATENATED, "concatenated_string")                                                                               \
    HW_NODE(INTEGER, "integer")                                                                                                \
    HW_NODE(FLOAT, "float")                                                                                                    \
    HW_NODE(TRUE, "true")                                                                                                      \
    HW_NODE(FALSE, "false")                                                                                                    \
    HW_NODE(NONE, "none")                                                                                                      \
    HW_NODE(ELLIPSIS, "ellipsis")                                                                                              \
    HW_NODE(PARAMETERS, "parameters")                                                                                          \
    HW_NODE(LAMBDA_PARAMETERS, "lambda_parameters")                                                                            \
    HW_NODE(TYPED_PARAMETER, "typed_parameter")                                                                                \
    HW_NODE(DEFAULT_PARAMETER, "default_parameter")                                                                            \
    HW_NODE(TYPED_DEFAULT_PARAMETER, "typed_default_parameter")                                                                \
    HW_NODE(KEYWORD_SEPARATOR, "keyword_separator")                                                                            \
    HW_NODE(POSITIONAL_SEPARATOR, "positional_separator")                                                                      \
    HW_NODE(TYPE, "type")

enum hw_node {
    HW_N_OTHER,
#define HW_NODE(constant, name) HW_N_##constant,
    HW_NODES(HW_NODE)
#undef HW_NODE
        HW_N_COUNT
};

#define HW_FIELDS(HW_FIELD)                                                                                                    \
    HW_FIELD(NAME, "name")                                                                                                     \
    HW_FIELD(BODY, "body")                                                                                                     \
    HW_FIELD(PARAMETERS, "parameters")                                                                                         \
    HW_FIELD(SUPERCLASSES, "superclasses")                                                                                     \
    HW_FIELD(DEFINITION, "definition")                                                                                         \
    HW_FIELD(CONDITION, "condition")                                                                                           \
    HW_FIELD(CONSEQUENCE, "consequence")                                                                                       \
    HW_FIELD(ALTERNATIVE, "alternative")                                                                                       \
    HW_FIELD(LEFT, "left")                                                                                                     \
    HW_FIELD(RIGHT, "right")                                                                                                   \
    HW_FIELD(TYPE, "type")                                                                                                     \
    HW_FIELD(OPERATOR, "operator")                                                                                             \
    HW_FIELD(OPERATORS, "operators")                                                                                           \
    HW_FIELD(ARGUMENT, "argument")                                                                                             \
    HW_FIELD(ARGUMENTS, "arguments")                                                                                           \
    HW_FIELD(FUNCTION, "function")                                                                                             \
    HW_FIELD(OBJECT, "object")                                                                                                 \
    HW_FIELD(ATTRIBUTE, "attribute")                                                                                           \
    HW_FIELD(VALUE, "value")                                                                                                   \
    HW_FIELD(SUBSCRIPT, "subscript")                                                                                           \
    HW_FIELD(KEY, "key")                                                                                                       \
    HW_FIELD(ALIAS, "alias")                                                                                                   \
    HW_FIELD(SUBJECT, "subject")                                                                                               \
    HW_FIELD(GUARD, "guard")                                                                                                   \
    HW_FIELD(MODULE_NAME, "module_name")                                                                                       \
    HW_FIELD(EXPRESSION, "expression")

enum hw_field {
#define HW_FIELD(constant, name) HW_F_##constant,
    HW_FIELDS(HW_FIELD)
#undef HW_FIELD
        HW_F_COUNT
};

enum hw_node hw_node_kind(TSNode node);

/* The child in a field; a null node (ts_node_is_null) if there is none. */
TSNode hw_node_field(TSNode node, enum hw_field field);

/* Walks the named children that are no comments, in constant time each (indexed access is linear in the index):
 * HW_EACH_CHILD (child, node) { ... } */
struct hw_children {
    TSTreeCursor cursor;
    bool more;
};
struct hw_children hw_children_open(TSNode node);
bool hw_children_next(struct hw_children *children, TSNode *child);
void hw_children_close(struct hw_children *children);
#define HW_EACH_CHILD(child, node)                                                                                             \
    for (struct hw_children child##_walk __attribute__((cleanup(hw_children_close))) = hw_children_open(node);                 \
         hw_children_next(&child##_walk, &child);)

/* The n-th (from 0) of those children; a null node past the end. */
TSNode hw_node_child(TSNode node, uint32_t n);
uint32_t hw_node_children(TSNode node);

/* First and last 1-based row of the simple statement around `node`, or of the header of the compound statement when the
 * node stands in its header. */
void hw_node_statement(TSNode node, uint32_t *first, uint32_t *last);

/* The same rows of a statement node itself. */
void hw_node_rows(TSNode statement, uint32_t *first, uint32_t *last);

/* The statement on a 1-based row, innermost first; false on a row without code. */
bool hw_node_statement_at(TSNode root, uint32_t row, uint32_t *first, uint32_t *last);

#endif
