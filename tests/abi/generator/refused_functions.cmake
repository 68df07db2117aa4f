# SPDX-License-Identifier: Apache-2.0
# refuse(NAME FROM TO AT MESSAGE): rules of functions.

refuse("no @since" " * @thread any\n * @since 0.2\n" " * @thread any\n" "const char* rcap_color_name" "rcap_color_name: @since is missing")
refuse("no @thread" " * @thread any\n * @since 0.2\n" " * @since 0.2\n" "const char* rcap_color_name" "rcap_color_name: @thread is missing")
refuse("unknown thread rule" " * @thread handle" " * @thread some" " * @thread some" "@thread `some` begins with none of any, handle, capturer")
refuse("no @return" " * @return the name\n" "" "const char* rcap_color_name" "rcap_color_name: @return is missing")
refuse("empty @return" " * @return the name\n" " * @return\n" "const char* rcap_color_name" "rcap_color_name: @return is missing")
refuse("@return of nothing" " * @frees self\n" " * @return OK\n * @frees self\n" " * @return OK\n * @frees" "@return on a function that returns nothing")
refuse("unknown status" "@return the number | INVALID_ARGUMENT" "@return the number | INVALID_ARGUMENTS" " * @return the number"
       "@return names INVALID_ARGUMENTS, which is no status")
refuse("null not told" "@return the number | INVALID_ARGUMENT" "@return the number | NOT_FOUND" "int64_t rcap_shelf_count"
       "`self` may not be null; say INVALID_ARGUMENT in @return")
refuse("no @param" " * @param color  a `rcap_color`\n" "" "const char* rcap_color_name" "rcap_color_name: @param color is missing")
refuse("@param of the length missing" " * @param image_bytes  their number\n" "" "rcap_status rcap_shelf_fill" "@param image_bytes is missing")
refuse("@param of nothing" " * @param color  a" " * @param colour  a" " * @param colour" "@param colour names no parameter of it")
refuse("@param without text" " * @param color  a `rcap_color`\n" " * @param color\n" " * @param color" "@param color says nothing")
refuse("@param without a name" " * @param color  a `rcap_color`\n" " * @param\n" " * @param\n" "@param needs the name of a parameter")
refuse("@param twice" " * @param color  a `rcap_color`\n" " * @param color  a\n * @param color  b\n" " * @param color  b" "@param:color stands twice")
refuse("unknown tag on a function" " * @retains image" " * @retain image" " * @retain" "unknown tag @retain on a function")

refuse("no @slot" " * @slot 6\n" "" "const char* rcap_color_name" "rcap_color_name: @slot is missing")
refuse("slot taken" " * @slot 3" " * @slot 2" " * @slot 2\n */\nint64_t" "@slot 2 is taken by rcap_shelf_fill")
refuse("slot taken by a struct" " * @slot 3" " * @slot 5" " * @slot 5" "@slot 5 is taken by rcap_shelf_options_init")
refuse("gap between slots" " * @slot 6" " * @slot 7" " * @slot 7" "@slot 7 leaves a gap: 6 is free")
refuse("slots not from 0" " * @slot 0\n" " * @slot 7\n" " * @slot 1\n" "@slot 1 leaves a gap: 0 is free")
refuse("slot that is no number" " * @slot 6" " * @slot six" " * @slot six" "@slot `six` is not a number")

set(numbers "")
foreach(index RANGE 1 14)
  string(APPEND numbers ", double n${index}")
endforeach()
refuse("fifteen parameters" "(int32_t color);" "(int32_t color${numbers});" "const char* rcap_color_name" "15 parameters; at most 14")

refuse("bool parameter" "(int32_t color);" "(bool color);" "const char* rcap_color_name" "bool has no fixed size")
refuse("long parameter" "(int32_t color);" "(long color);" "const char* rcap_color_name" "allowed are int32_t, int64_t, double, const char*")
refuse("size_t parameter" "(int32_t color);" "(size_t color);" "const char* rcap_color_name" "allowed are int32_t, int64_t, double, const char*")
refuse("unsigned 64-bit parameter" "(int32_t color);" "(uint64_t color);" "const char* rcap_color_name" "no unsigned 64 bit")
refuse("enum parameter" "(int32_t color);" "(rcap_color color);" "const char* rcap_color_name" "an enum crosses as int32_t")
refuse("struct by value" "(int32_t color);" "(rcap_error color);" "const char* rcap_color_name" "a struct is passed by pointer, never by value")
refuse("handle by value" "(int32_t color);" "(rcap_shelf color);" "const char* rcap_color_name" "a handle is passed by pointer")
refuse("text to write into" "(int32_t color);" "(char* color);" "const char* rcap_color_name" "allowed are int32_t, int64_t, double, const char*")
refuse("pointer to an unknown type" "(int32_t color);" "(FILE* color);" "const char* rcap_color_name" "allowed are int32_t, int64_t, double, const char*")
refuse("struct handed out by pointer" "(int32_t color);" "(rcap_error** color);" "const char* rcap_color_name" "a struct is filled in the caller's memory")
refuse("text handed out by pointer" "(int32_t color);" "(const char** color);" "const char* rcap_color_name" "only handles and borrowed arrays")
refuse("three stars" "(int32_t color);" "(void*** color);" "const char* rcap_color_name" "too many stars")
refuse("parameter twice" "(int32_t color);" "(int32_t color, int32_t color);" "const char* rcap_color_name" "two parameters are called `color`")
refuse("upper case parameter" "(int32_t color);" "(int32_t Color);" "const char* rcap_color_name" "names are lower case")
refuse("returns a handle" "const char* rcap_color_name" "rcap_shelf* rcap_color_name" "rcap_shelf* rcap_color_name" "returns `rcap_shelf*`; allowed are")
refuse("returns a struct" "int64_t rcap_shelf_count" "rcap_error rcap_shelf_count" "rcap_error rcap_shelf_count" "returns `rcap_error`; allowed are")
refuse("returns unsigned" "int64_t rcap_shelf_count" "uint32_t rcap_shelf_count" "uint32_t rcap_shelf_count" "returns `uint32_t`; allowed are")
refuse("array without a count" "const int32_t* sizes, int64_t sizes_count," "const int32_t* sizes, int64_t boards," "rcap_status rcap_shelf_open"
       "array `const int32_t* sizes` must be followed by `int64_t sizes_count`")
refuse("count of 32 bit" "const int32_t* sizes, int64_t sizes_count," "const int32_t* sizes, int32_t sizes_count," "rcap_status rcap_shelf_open"
       "must be followed by `int64_t sizes_count`")
refuse("bytes without a length" "const void* image, int64_t image_bytes, void* stream" "int64_t image_bytes, const void* image, void* stream"
       "rcap_status rcap_shelf_fill" "array `const void* image` must be followed by `int64_t image_bytes`")

refuse("status without err" "const void* image, int64_t image_bytes, void* stream, rcap_error* err" "const void* image, int64_t image_bytes, void* stream"
       "rcap_status rcap_shelf_fill" "a function that can fail ends in `rcap_error* err`")
refuse("number or status without err" "rcap_shelf_count(const rcap_shelf* self, rcap_error* err)" "rcap_shelf_count(const rcap_shelf* self)"
       "int64_t rcap_shelf_count" "a function that can fail ends in `rcap_error* err`")
refuse("err in front" "rcap_shelf_fill(rcap_shelf* self, double weight, const void* image, int64_t image_bytes, void* stream, rcap_error* err)"
       "rcap_shelf_fill(rcap_shelf* self, double weight, const void* image, int64_t image_bytes, rcap_error* err, void* stream)"
       "rcap_status rcap_shelf_fill" "a function that can fail ends in `rcap_error* err`")
refuse("err of another type" "rcap_shelf_count(const rcap_shelf* self, rcap_error* err)" "rcap_shelf_count(const rcap_shelf* self, rcap_shelf_options* err)"
       "int64_t rcap_shelf_count" "a function that can fail ends in `rcap_error* err`")
refuse("err without a status" "(int32_t color);" "(int32_t color, rcap_error* err);" "const char* rcap_color_name" "takes `err` and returns no status")

refuse("self behind" "rcap_shelf_count(const rcap_shelf* self, rcap_error* err)" "rcap_shelf_count(double weight, const rcap_shelf* self, rcap_error* err)"
       "int64_t rcap_shelf_count" "`self` is the first parameter")
refuse("self of a struct" "rcap_shelf_count(const rcap_shelf* self, rcap_error* err)" "rcap_shelf_count(const rcap_error* self, rcap_error* err)"
       "int64_t rcap_shelf_count" "`self` is the first parameter and a pointer to a handle")
refuse("name of another handle" "int64_t rcap_shelf_count(" "int64_t rcap_board_count(" "int64_t rcap_board_count" "is called rcap_shelf_...")

refuse("owned handle without @owner" " * @owner shelf\n" "" "rcap_status rcap_shelf_open" "`shelf` hands out a handle that the caller destroys")
refuse("@owner of an array" " * @owner shelf\n" " * @owner sizes\n" " * @owner sizes" "@owner sizes must name a `HANDLE**` parameter")
refuse("@owner of a borrowed handle" "int64_t sizes_count, rcap_shelf** shelf," "int64_t sizes_count, rcap_board** shelf," " * @owner shelf"
       "@owner shelf must name a `HANDLE**` parameter whose handle has @destroy")
refuse("destroy without @frees" " * @frees self\n" "" "void rcap_shelf_destroy" "ends rcap_shelf; say `@frees self`")
refuse("@frees elsewhere" " * @retains image\n" " * @frees self\n" " * @frees self\n * @capture" "on a function that no handle names as its @destroy")
refuse("@retains of nothing" " * @retains image\n" " * @retains picture\n" " * @retains picture" "@retains picture names no parameter of it")
refuse("@capture of something else" " * @capture ok" " * @capture no" " * @capture no" "only `ok` is known")
refuse("@deprecated without advice" " * @deprecated use \"rcap_shelf_fill\"\n" " * @deprecated\n" " * @deprecated" "@deprecated says nothing")
refuse("function twice" "const char* rcap_color_name(" "const char* rcap_shelf_destroy(" "const char* rcap_shelf_destroy" "`rcap_shelf_destroy` is declared twice")
refuse("name of a field of the table" "const char* rcap_color_name(" "const char* rcap_abi(" "const char* rcap_abi(" "the function table has a field of that name")
