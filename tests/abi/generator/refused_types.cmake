# SPDX-License-Identifier: Apache-2.0
# refuse(NAME FROM TO AT MESSAGE): rules of enums, structs, handles, and of names and documentation.

refuse("enum without @since" " * @flags\n * @since 0.1\n" " * @flags\n" "enum rcap_color" "rcap_color: @since is missing")
refuse("struct without @since" " * @init_slot 5\n * @since 0.2\n" " * @init_slot 5\n" "struct rcap_shelf_options" "rcap_shelf_options: @since is missing")
refuse("handle without @since" " * @borrowed rcap_shelf\n * @since 0.1\n" " * @borrowed rcap_shelf\n" "typedef struct rcap_board" "rcap_board: @since is missing")
refuse("@since of the future" " * @init_slot 5\n * @since 0.2" " * @init_slot 5\n * @since 0.3" " * @since 0.3" "is newer than this version, 0.2.0")
refuse("@since that is no release" " * @init_slot 5\n * @since 0.2" " * @init_slot 5\n * @since soon" " * @since soon" "@since `soon` is not a release")
refuse("field's @since of the future" "   * @since 0.2\n" "   * @since 9.0\n" "   * @since 9.0" "is newer than this version")

refuse("unknown tag" " * @flags" " * @flag" " * @flag" "unknown tag @flag on a enum; it may have @since, @flags")
refuse("tag of another kind" " * @destroy rcap_shelf_destroy\n" " * @destroy rcap_shelf_destroy\n * @slot 9\n" " * @slot 9" "unknown tag @slot on a handle")
refuse("tag twice" " * @flags\n" " * @flags\n * @flags\n" " * @flags\n * @since" "@flags stands twice")

refuse("value used twice" "RCAP_COLOR_BLUE = 2" "RCAP_COLOR_BLUE = 1" "  RCAP_COLOR_BLUE" "the value is taken by another enumerator of rcap_color")
refuse("value past int32" "RCAP_STATUS_VERSION_MISMATCH = -10" "RCAP_STATUS_VERSION_MISMATCH = -2147483649" "  RCAP_STATUS_VERSION_MISMATCH" "does not fit int32_t")
refuse("flag of two bits" "RCAP_COLOR_BLUE = 2" "RCAP_COLOR_BLUE = 3" "  RCAP_COLOR_BLUE" "an enumerator of a @flags enum is one bit")
refuse("flag zero" "RCAP_COLOR_BLUE = 2" "RCAP_COLOR_BLUE = 0" "  RCAP_COLOR_BLUE" "an enumerator of a @flags enum is one bit")
refuse("empty enum" "  /** Red. */\n  RCAP_COLOR_RED = 1,\n  /** Blue. */\n  RCAP_COLOR_BLUE = 2\n" "" "enum rcap_color" "an enum without enumerators")
refuse("enumerator of another prefix" "RCAP_COLOR_BLUE" "COLOR_BLUE" "  COLOR_BLUE" "begin with RCAP_")
refuse("name used twice" "RCAP_COLOR_BLUE" "RCAP_STATUS_OK" "  RCAP_STATUS_OK = 2" "`RCAP_STATUS_OK` is declared twice (first in 20_types.h.in, line 10)")
refuse("type of another prefix" "typedef struct rcap_board rcap_board;" "typedef struct board board;" "typedef struct board" "begin with rcap_")
refuse("name of an init function" "typedef struct rcap_board rcap_board;" "typedef struct rcap_error_init rcap_error_init;" "struct rcap_error {"
       "`rcap_error_init` is declared twice")
refuse("upper case type" "struct rcap_error {" "struct rcap_Error {" "struct rcap_Error" "names are lower case")
refuse("upper case field" "int32_t boards;" "int32_t Boards;" "  int32_t Boards" "field names are lower case")
refuse("field twice" "int32_t color;" "int32_t boards;" "  int32_t boards;\n  /** Kilo" "`rcap_shelf_options.boards` is declared twice")
refuse("prose about what is not there" "a `rcap_color`" "a `rcap_colour`" "const char* rcap_color_name" "names `rcap_colour`, which does not exist")
refuse("prose about a field that is not there" " * What went wrong." " * What went wrong: `rcap_error.text`." "struct rcap_error"
       "names `rcap_error.text`, which does not exist")

refuse("no struct_size" "struct rcap_error {\n  /** Bytes of this struct. */\n  int64_t struct_size;\n" "struct rcap_error {\n" "struct rcap_error"
       "a struct begins with `int64_t struct_size;`")
refuse("struct_size of 32 bit" "struct rcap_error {\n  /** Bytes of this struct. */\n  int64_t struct_size;\n"
       "struct rcap_error {\n  /** Bytes of this struct. */\n  int32_t struct_size;\n" "struct rcap_error" "a struct begins with `int64_t struct_size;`")
refuse("padding between fields" "  /**\n   * Colour.\n   * @since 0.2\n   * @default -1\n   */\n  int32_t color;\n" "" "  double load"
       "rcap_shelf_options.load: 4 bytes of implicit padding before it")
refuse("padding behind an odd array" "int32_t reserved;" "char reserved[3];\n  /** More. */\n  int32_t more;" "  int32_t more" "1 bytes of implicit padding before it")
refuse("padding at the end" "  /** Always 0. */\n  int32_t reserved;\n" "" "struct rcap_error" "rcap_error: 4 bytes of implicit padding at its end")
refuse("bool field" "int32_t boards;" "bool boards;" "  bool boards" "bool has no fixed size")
refuse("long field" "int32_t boards;" "long boards;" "  long boards" "a field is int32_t, int64_t, double, or an array of char")
refuse("unsigned 64-bit field" "int32_t boards;" "uint64_t boards;" "  uint64_t boards" "no unsigned 64 bit")
refuse("struct in a struct" "int32_t boards;" "rcap_error boards;" "  rcap_error boards" "a struct holds no other struct by value")
refuse("array of numbers" "char label[16];" "int32_t label[16];" "  int32_t label" "a field is int32_t, int64_t, double, or an array of char")
refuse("single char" "char label[16];" "char label;" "  char label" "a field is int32_t, int64_t, double, or an array of char")
refuse("empty array" "char label[16];" "char label[0];" "  char label" "a field is int32_t, int64_t, double, or an array of char")
refuse("default that is no number" "@default 3" "@default three" "  /** Boards." "@default `three` is no int32_t")
refuse("default past the type" "@default 3" "@default 2147483648" "  /** Boards." "@default `2147483648` is no int32_t")
refuse("whole default of a double" "@default 2.5" "@default 2" "  /** Kilograms" "@default `2` is no double")
refuse("default of an array" "/** Label. */" "/** Label. @default 0 */" "  /** Label." "struct_size and arrays of char take no @default")

refuse("handle that nobody ends" " * @borrowed rcap_shelf\n" "" "typedef struct rcap_board" "rcap_board: say who ends it")
refuse("handle that two end" " * @borrowed rcap_shelf\n" " * @borrowed rcap_shelf\n * @destroy rcap_shelf_destroy\n" "typedef struct rcap_board" "not both")
refuse("borrowed from what is no handle" " * @borrowed rcap_shelf\n" " * @borrowed rcap_error\n" " * @borrowed" "@borrowed names `rcap_error`, which is not a handle")
refuse("destroy that is not there" " * @destroy rcap_shelf_destroy\n" " * @destroy rcap_shelf_close\n" " * @destroy" "@destroy names `rcap_shelf_close`")
refuse("destroy that is no destroy function" " * @destroy rcap_shelf_destroy\n" " * @destroy rcap_shelf_count\n" " * @destroy"
       "its destroy function must be `void rcap_shelf_count(rcap_shelf* self)`")

refuse("struct without @init_slot" " * @init_slot 5\n" "" "struct rcap_shelf_options" "rcap_shelf_options: @init_slot is missing")
refuse("struct's slot taken" " * @init_slot 5" " * @init_slot 4" " * @init_slot 4\n * @since 0.2" "@init_slot 4 is taken by rcap_error_init")
