# SPDX-License-Identifier: Apache-2.0
# refuse(NAME FROM TO AT MESSAGE): text that the grammar does not know.

refuse("no licence line" "// SPDX-License-Identifier: Apache-2.0\n\n/**\n * Opens" "\n/**\n * Opens" "\n"
       "the first line must be `// SPDX-License-Identifier: Apache-2.0`")
refuse("other licence" "Apache-2.0\n\n/**\n * Opens" "MIT\n\n/**\n * Opens" "// SPDX" "the first line must be")
refuse("tab" " * Opens a shelf" " *\tOpens a shelf" " *\tOpens" "a character outside printable ASCII")
refuse("carriage return" " * Opens a shelf" " * Opens\r a shelf" " * Opens" "a character outside printable ASCII")
string(ASCII 195 159 sharp_s)
refuse("letter outside ASCII" " * Closes a shelf" " * Schlie${sharp_s}t a shelf" " * Schlie" "a character outside printable ASCII")

refuse("function without a block" "/**\n * Name of a colour.\n *\n * @param color  a `rcap_color`\n * @return the name\n * @thread any\n * @since 0.2\n * @slot 6\n */\n"
       "" "const char* rcap_color_name" "expected a documentation block")
refuse("enum without a block" "/**\n * Result of a call.\n *\n * @since 0.1\n */\n" "" "enum rcap_status {" "expected a documentation block")
refuse("ordinary comment between declarations" "/**\n * Closes" "// note\n/**\n * Closes" "// note" "expected a documentation block")
refuse("preprocessor line" "/**\n * Closes" "#include <stdint.h>\n/**\n * Closes" "#include" "expected a documentation block")
refuse("two blocks" "/**\n * Closes" "/** Stray. */\n/**\n * Closes" "/**\n * Closes" "after the documentation block")
refuse("blank line behind a block" " */\nvoid rcap_shelf_destroy" " */\n\nvoid rcap_shelf_destroy" "\nvoid rcap_shelf_destroy" "after the documentation block")
refuse("block at the end" "const char* rcap_color_name(int32_t color);\n" "" "" "a documentation block without a declaration")
refuse("block that does not end" " * @slot 6\n */\nconst" " * @slot 6\nconst" "const char* rcap_color_name" "begins with ` * `")
refuse("block that never ends" " * @slot 6\n */\nconst char* rcap_color_name(int32_t color);\n" " * @slot 6\n" "" "the documentation block does not end")
refuse("block without its stars" " * Copies a board's" "   Copies a board's" "   Copies" "begins with ` * `")
refuse("block that says nothing" " * Number of boards.\n *\n" "" " * @param self  a shelf\n * @return the number" "says nothing before its tags")

refuse("class" "typedef struct rcap_board rcap_board;" "class rcap_board;" "class" "expected `enum NAME {`")
refuse("global variable" "typedef struct rcap_board rcap_board;" "extern int32_t rcap_boards;" "extern" "expected `enum NAME {`")
refuse("typedef of another name" "typedef struct rcap_board rcap_board;" "typedef struct rcap_plank rcap_board;" "typedef struct rcap_plank"
       "a handle's tag and its name are the same")
refuse("typedef of a number" "typedef struct rcap_board rcap_board;" "typedef int32_t rcap_board;" "typedef int32_t" "expected `enum NAME {`")
refuse("function pointer type" "typedef struct rcap_board rcap_board;" "typedef void (*rcap_board)(int32_t);" "typedef void"
       "a function is written")
refuse("inline function" "void rcap_shelf_destroy(rcap_shelf* self);" "void rcap_shelf_destroy(rcap_shelf* self) {\n}" "void rcap_shelf_destroy"
       "a function declaration ends in `);`")
refuse("function that does not end" "const char* rcap_color_name(int32_t color);" "const char* rcap_color_name(int32_t color" "const char* rcap_color_name"
       "a function declaration ends in `);`")
refuse("function that runs into the next block" "sizes_count, rcap_shelf** shelf,\n                            rcap_error* err);\n" "sizes_count,\n"
       "rcap_status rcap_shelf_open" "a function declaration ends in `);`")
refuse("attribute" "void rcap_shelf_destroy(rcap_shelf* self);" "void rcap_shelf_destroy(rcap_shelf* self) noexcept;" "void rcap_shelf_destroy"
       "a function is written `TYPE rcap_name")
refuse("empty parameter list" "const char* rcap_color_name(int32_t color);" "const char* rcap_color_name();" "const char* rcap_color_name" "write `(void)`")
refuse("array parameter" "const int32_t* sizes, int64_t" "const int32_t sizes[], int64_t" "rcap_status rcap_shelf_open" "write an array parameter as a pointer")
refuse("callback" "const int32_t* sizes, int64_t" "void (*call)(void), int64_t" "rcap_status rcap_shelf_open" "no callbacks")
refuse("variable arguments" "rcap_shelf* self, double weight," "rcap_shelf* self, ..., double weight," "rcap_status rcap_shelf_fill" "no variable arguments")
refuse("nameless parameter" "(int32_t color);" "(int32_t);" "const char* rcap_color_name" "a parameter is written `TYPE name`")
refuse("star beside the name" "rcap_shelf_destroy(rcap_shelf* self);" "rcap_shelf_destroy(rcap_shelf *self);" "void rcap_shelf_destroy"
       "with the star beside the type")

refuse("enumerator without a value" "RCAP_COLOR_BLUE = 2" "RCAP_COLOR_BLUE" "  RCAP_COLOR_BLUE" "an enumerator is written")
refuse("enumerator with an expression" "RCAP_COLOR_BLUE = 2" "RCAP_COLOR_BLUE = 1 << 1" "  RCAP_COLOR_BLUE" "an enumerator is written")
refuse("enumerator without a block" "  /** Blue. */\n" "" "  RCAP_COLOR_BLUE" "each member needs its own")
refuse("enum that does not end" "  RCAP_COLOR_BLUE = 2\n};\n" "  RCAP_COLOR_BLUE = 2\n" "\n/**\n * A shelf." "or `};` to close enum rcap_color")
refuse("field without a block" "  /** Label. */\n" "" "  char label" "each member needs its own")
refuse("two fields in a line" "int32_t boards;" "int32_t boards, more;" "  int32_t boards" "a field is written")
refuse("pointer in a struct" "int32_t boards;" "int32_t* boards;" "  int32_t* boards" "a struct holds no pointer")
refuse("bit-field" "int32_t boards;" "int32_t boards : 3;" "  int32_t boards" "no bit-fields")
refuse("union" "int32_t boards;" "union { int32_t boards; };" "  union" "no unions")
refuse("struct that does not end" "  char label[16];\n};\n" "  char label[16];\n" "" "struct rcap_shelf_options does not end")
