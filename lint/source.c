/* Parsing a Python file with tree-sitter. */
#include "lint/source.h"

extern const TSLanguage *tree_sitter_python(void);

static void release(void *tree)
{
    ts_tree_delete(tree);
}

TSNode hw_source_parse(struct hw_text *text)
{
    if (!text->attachment) {
        TSParser *parser = ts_parser_new();
        ts_parser_set_language(parser, tree_sitter_python());
        text->attachment = ts_parser_parse_string(parser, NULL, text->text, text->size);
        text->release = release;
        ts_parser_delete(parser);
    }
    return ts_tree_root_node(text->attachment);
}
