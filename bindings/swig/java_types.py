# SPDX-License-Identifier: Apache-2.0
"""Writes Java's enums, records and raw layer from api.json: java_types.py API_JSON FOLDER.

Enums and the structs that the library fills are public classes. Structs that a caller fills are offsets, written by the hand-written classes in front of
them. The raw layer is one interface with a method per C function and its two implementations: over SWIG's JNI, and over the function table through
java.lang.foreign. To both of them a pointer is a long, but for an array, which may lie in Java's heap and is a Span.
"""
import json
import os
import re
import sys
import textwrap

from names import ENUMS, FILLED, FLAGS

HEADER = "// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.\n// SPDX-License-Identifier: Apache-2.0\n"
WIDTH = 120

# Where a C function is to be found in Java.
PLACES = {
    "rcap_abi_version": "RouteCap#abiVersion()",
    "rcap_backend_open": "Backend#open(String)",
    "rcap_layout_rows": "RowsQuery#layout()",
    "rcap_capturer_end_forward": "Capturer#endForward(Forward)",
    "rcap_capturer_discard_forward": "Capturer#discardForward(long)",
    "rcap_capturer_release_slots": "Capturer#releaseSlots(SlotUnit, Array, long)",
    "rcap_capturer_copy_slots": "Capturer#copySlots(SlotUnit, Array, Array, long)",
    "rcap_output_accept": "Output#accept(Accept)",
    "rcap_wire_format_name": "Format#formName()",
    "rcap_wire_format_of": "Format#parse(String)",
}


def camel(name):
    words = name.lower().split("_")
    text = words[0] + "".join(word.capitalize() for word in words[1:])
    return text.replace("Dtype", "DType").replace("timeoutNs", "timeoutNanos")


def constant(enum_name, c_name):
    return c_name[len(ENUMS[enum_name][1]):]


def java_words(text):
    """C's spellings in a comment become Java's, and what HTML would take for itself is quoted."""
    def code(match):
        word = match.group(1)
        if word in ENUMS:
            return "{@link %s}" % ENUMS[word][0]
        if word in FILLED:
            return "{@link %s}" % FILLED[word]
        if word in PLACES:
            return "{@link %s}" % PLACES[word]
        if re.fullmatch(r"[a-z]+(_[a-z]+)+", word) and not word.startswith("rcap_"):
            return "{@code %s}" % camel(word)
        return "{@code %s}" % word

    pieces = re.split(r"(`[^`]*`)", text)
    for index, piece in enumerate(pieces):
        if piece.startswith("`"):
            pieces[index] = code(re.match(r"`([^`]*)`", piece))
            continue
        piece = piece.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        for enum, (_, prefix) in ENUMS.items():
            piece = re.sub(r"\b%s([A-Z0-9_]+)\b" % prefix, r"\1", piece)
        piece = re.sub(r"\b(rcap_[a-z_]+)\b", lambda match: code(re.match("(.*)", match.group(1))), piece)
        piece = re.sub(r"(?<![\w{])([a-z]+(?:_[a-z]+)+)\b", lambda match: "{@code %s}" % camel(match.group(1)), piece)
        pieces[index] = piece
    return "".join(pieces)


def comment(text, indent="", tags=()):
    lines = []
    for index, paragraph in enumerate(text.split("\n\n")):
        lines += wrapped(("<p>" if index else "") + java_words(paragraph.replace("\n", " ")), indent + " * ")
    if tags:
        lines.append(indent + " *")
        for tag, words in tags:
            lines += wrapped("%s %s" % (tag, java_words(words)), indent + " * ", "    ")
    return indent + "/**\n" + "\n".join(lines) + "\n" + indent + " */\n"


def wrapped(text, indent, hanging=""):
    # A Javadoc tag in braces stays in one line.
    text = re.sub(r"\{@\w+ [^}]*\}", lambda match: match.group(0).replace(" ", "\0"), text)
    return [line.replace("\0", " ") for line in textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + hanging,
                                                              break_long_words=False, break_on_hyphens=False)]


def enum_text(enum):
    name = ENUMS[enum["name"]][0]
    text = "package io.github.routecap;\n\n"
    if name == "Format":
        text += "import io.github.routecap.internal.Native;\nimport io.github.routecap.internal.Scratch;\n\n"
    if name == "Code":
        text += "import io.github.routecap.internal.Native;\n\n"
    if enum["flags"]:
        text += "import java.util.EnumSet;\nimport java.util.Set;\n\n"
    text += comment(enum["doc"]) + "public enum %s {\n" % name
    for index, value in enumerate(enum["values"]):
        text += comment(value["doc"], "  ")
        last = index == len(enum["values"]) - 1
        text += "  %s(%d)%s\n" % (constant(enum["name"], value["name"]), value["value"], ";" if last else ",")
    text += """
  private final int value;

  %s(int value) {
    this.value = value;
  }

  /**
   * The number of this constant in C.
   *
   * @return the number, which never changes
   */
  public int value() {
    return value;
  }

  /**
   * The constant of a number.
   *
   * @param value the number of a constant in C
   * @return the constant
   * @throws RouteCapException with {@link Code#UNSUPPORTED} for a number that has no constant here: a newer library's
   */
  public static %s of(int value) {
    for (%s constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(%s.UNSUPPORTED, "%s " + value + " is unknown to this version of the binding");
  }
""" % (name, name, name, "Code", name)
    if enum["flags"]:
        text += """
  static int bits(Set<%s> flags) {
    int bits = 0;
    for (%s flag : flags) {
      bits |= flag.value;
    }
    return bits;
  }

  /**
   * The flags of a number in which each has its bit.
   *
   * @param bits any sum of values
   * @return the flags; bits that are unknown here are left out
   */
  public static Set<%s> setOf(int bits) {
    Set<%s> flags = EnumSet.noneOf(%s.class);
    for (%s flag : values()) {
      if ((bits & flag.value) != 0) {
        flags.add(flag);
      }
    }
    return flags;
  }
""" % ((name,) * 6)
    if name == "Code":
        text += """
  /**
   * The name of a status in C, whether there is a constant for it here or not.
   *
   * @param status any number
   * @return for example {@code RCAP_STATUS_BUSY}; {@code RCAP_STATUS_UNKNOWN} for a number that is no status
   */
  public static String nameInC(int status) {
    return Native.api().rcap_status_name(status);
  }
"""
    if name == "Format":
        text += """
  /**
   * The form's name, for example {@code frame-base64}.
   *
   * @return the name that the command and {@link #parse(String)} know
   */
  public String formName() {
    return Native.api().rcap_wire_format_name(value);
  }

  /**
   * The form of a name.
   *
   * @param name as {@link #formName()} gives it
   * @return the form
   * @throws RouteCapException with {@link Code#NOT_FOUND} for another name; the text lists those that there are
   */
  public static Format parse(String name) {
    try (Scratch scratch = Scratch.take()) {
      Failure.check(Native.api().rcap_wire_format_of(scratch.text(name), scratch.out(0), scratch.error()), scratch);
      return of(scratch.outInt(0));
    }
  }
"""
    return text + "}\n"


def field_type(field):
    if "count" in field:
        return "String"
    if field["type"] == "int64_t":
        return "long"
    if field["name"] in FLAGS:
        return "boolean"
    for enum, (java_type, _) in ENUMS.items():
        if re.search(r"`%s`" % enum, field["doc"]):
            return java_type
    return "DType" if field["name"].endswith("dtype") else "int"


def fields_of(struct):
    return [field for field in struct["fields"] if field["name"] != "struct_size" and not re.fullmatch(r"reserved\d*", field["name"])]


def record_text(struct):
    name = FILLED[struct["name"]]
    fields = fields_of(struct)
    text = "package io.github.routecap;\n\nimport io.github.routecap.internal.Layouts;\nimport io.github.routecap.internal.Scratch;\n\n"
    tags = [("@param " + camel(field["name"]), ("whether " + boolean_doc(field["doc"]) if field_type(field) == "boolean" else field["doc"])) for field in fields]
    text += comment(struct["doc"], tags=tags)
    text += "public record %s(\n    %s) {\n" % (name, ",\n    ".join("%s %s" % (field_type(field), camel(field["name"])) for field in fields))
    text += "\n  /** Reads the struct that the library filled. */\n  static %s from(Scratch scratch) {\n    return new %s(\n" % (name, name)
    reads = []
    for field in fields:
        place = "Layouts.%s.%s" % (layout_name(struct), field["name"].upper())
        kind = field_type(field)
        if kind == "String":
            reads.append("scratch.text(%s, %d)" % (place, field["count"]))
        elif kind == "long":
            reads.append("scratch.getLong(%s)" % place)
        elif kind == "int":
            reads.append("scratch.getInt(%s)" % place)
        elif kind == "boolean":
            reads.append("scratch.getInt(%s) != 0" % place)
        else:
            reads.append("%s.of(scratch.getInt(%s))" % (kind, place))
    return text + "        %s);\n  }\n}\n" % ",\n        ".join(reads)


def boolean_doc(doc):
    """What a flag says, without the numbers that it is in C."""
    doc = re.sub(r"^1 if ", "", doc)
    doc = re.sub(r",? else 0\b", "", doc)
    return doc[0].lower() + doc[1:] if not doc.startswith("E,") else doc


def layout_name(struct):
    name = camel(struct["name"][len("rcap_"):])
    return name[0].upper() + name[1:]


def layouts_text(structs):
    text = "package io.github.routecap.internal;\n\n/** Size and offsets of every struct of the C API, in bytes. */\npublic final class Layouts {\n"
    text += "  private Layouts() {}\n"
    for struct in structs:
        text += "\n  /** {@code %s}. */\n  public static final class %s {\n    private %s() {}\n\n" % (struct["name"], layout_name(struct), layout_name(struct))
        text += "    /** Bytes of the struct. */\n    public static final int SIZE = %d;\n" % struct["size"]
        for field in struct["fields"]:
            text += "\n    /** {@code %s}. */\n    public static final int %s = %d;\n" % (field["name"], field["name"].upper(), field["offset"])
        text += "  }\n"
    return text + "}\n"


class Function:
    """A C function as the raw layer has it."""

    def __init__(self, function):
        self.name = function["name"]
        self.slot = function["slot"]
        self.returns = {"const char*": "String", "rcap_status": "int", "int32_t": "int", "int64_t": "long", "void": "void"}[function["returns"]]
        # (Java name, Java type, bytes of an element of an array)
        self.parameters = []
        lengths = {parameter["length"] for parameter in function["parameters"] if "length" in parameter}
        for parameter in function["parameters"]:
            kind = parameter["type"]
            if parameter["name"] in lengths:
                continue
            if "length" in parameter:
                element = kind.replace("const ", "").replace("*", "")
                self.parameters.append((parameter["name"], "Span", {"void": 1, "int32_t": 4, "int64_t": 8}[element]))
            elif "*" in kind:
                self.parameters.append((parameter["name"], "long", 0))
            else:
                self.parameters.append((parameter["name"], {"int32_t": "int", "int64_t": "long"}[kind], 0))

    def signature(self):
        return "%s %s(%s)" % (self.returns, self.name, ", ".join("%s %s" % (kind, camel(name)) for name, kind, _ in self.parameters))

    def arguments(self):
        return ", ".join(camel(name) for name, _, _ in self.parameters)

    def spans(self):
        return [parameter for parameter in self.parameters if parameter[1] == "Span"]


def functions_of(api):
    functions = list(api["functions"])
    for struct in api["structs"]:
        parameters = [{"name": "value", "type": struct["name"] + "*"}, {"name": "struct_size", "type": "int64_t"}]
        functions.append({"name": struct["init"], "slot": struct["init_slot"], "returns": "void", "parameters": parameters})
    return [Function(function) for function in sorted(functions, key=lambda function: function["slot"])]


def broken(text, indent, width=140):
    """A long declaration or call in several lines."""
    return "\n".join(textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent + "    ", break_long_words=False, break_on_hyphens=False))


def interface_text(functions):
    text = """package io.github.routecap.internal;

import java.nio.ByteBuffer;

/**
 * The C API as it is: a pointer is a long, an array is a {@link Span} or null. What a function answers is not looked at, and what went wrong stands in
 * the memory that {@code err} points to.
 */
public interface NativeApi {
  /** How the library is called: {@code jni} or {@code ffm}. */
  String kind();

  /** What was loaded, in words. */
  String origin();

  /** The address of a direct buffer's first byte. */
  long address(ByteBuffer direct);

  /** Memory of the library as a direct buffer, which keeps nothing alive. */
  ByteBuffer view(long address, long bytes);
"""
    for function in functions:
        text += "\n  /** {@code %s}, slot %d. */\n%s\n" % (function.name, function.slot, broken(function.signature() + ";", "  "))
    return text + "}\n"


def jni_text(functions):
    text = """package io.github.routecap.internal.jni;

import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.Span;
import java.nio.ByteBuffer;

/** The C API through JNI: SWIG's functions behind the interface. */
public final class JniApi implements NativeApi {
  private final String origin;

  /** For a process whose JNI library has been loaded. */
  public JniApi(String origin) {
    this.origin = origin;
  }

  @Override
  public String kind() {
    return "jni";
  }

  @Override
  public String origin() {
    return origin;
  }

  @Override
  public long address(ByteBuffer direct) {
    return routecap.rcap_java_address(direct);
  }

  @Override
  public ByteBuffer view(long address, long bytes) {
    return routecap.rcap_java_view(address, bytes);
  }
"""
    for function in functions:
        call = "routecap.%s(%s);" % (function.name, function.arguments())
        text += "\n  @Override\n%s\n%s\n  }\n" % (broken("public " + function.signature() + " {", "  "),
                                              broken(("return " if function.returns != "void" else "") + call, "    "))
    return text + "}\n"


# How a Java type is told to java.lang.foreign.
FOREIGN = {"int": "JAVA_INT", "long": "JAVA_LONG", "String": "JAVA_LONG"}


def descriptor(function, span):
    kinds = []
    for _, kind, element in function.parameters:
        kinds += [span, "JAVA_LONG"] if kind == "Span" else [FOREIGN[kind]]
    if function.returns == "void":
        return "FunctionDescriptor.ofVoid(%s)" % ", ".join(kinds)
    return "FunctionDescriptor.of(%s)" % ", ".join([FOREIGN[function.returns]] + kinds)


def foreign_call(function, suffix, cast, argument):
    passed = []
    for name, kind, element in function.parameters:
        java = camel(name)
        if kind == "Span":
            passed += [argument % java, "Span.count(%s, %d)" % (java, element)]
        else:
            passed.append(java)
    call = "%s%s.invokeExact(%s)" % (function.name.upper(), suffix, ", ".join(passed))
    return cast + call + ";"


def ffm_text(functions, api):
    text = """package io.github.routecap.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.Span;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/**
 * The C API over its function table. Every function with arrays is there twice: with addresses, and for arrays of Java's heap, during which no garbage
 * is collected.
 */
abstract class FfmFunctions implements NativeApi {
  /** ABI number that is asked for. */
  static final int ABI = %d;

  /** Slots of the table. */
  static final int SLOTS = %d;

  /** The library's SONAME. */
  static final String SONAME = "%s";

  private static final Table TABLE = Table.loaded();

""" % (api["abi_version"], 1 + max(function.slot for function in functions), api["soname"])
    for function in functions:
        text += broken("private static final MethodHandle %s = TABLE.function(%d, %s);" % (function.name.upper(), function.slot, descriptor(function, "JAVA_LONG")),
                       "  ") + "\n"
        if function.spans():
            text += broken("private static final MethodHandle %s_HEAP = TABLE.heapFunction(%d, %s);" % (function.name.upper(), function.slot, descriptor(function, "ADDRESS")),
                           "  ") + "\n"
    for function in functions:
        cast = {"void": "", "String": "return Table.text((long) ", "int": "return (int) ", "long": "return (long) "}[function.returns]
        text += "\n  @Override\n%s\n    try {\n" % broken("public " + function.signature() + " {", "  ")
        call = foreign_call(function, "", cast, "Span.address(%s)")
        if function.returns == "String":
            call = call[:-1] + ");"
        if function.spans():
            heap = " || ".join("Span.onHeap(%s)" % camel(name) for name, _, _ in function.spans())
            text += broken("if (%s) {" % heap, "      ") + "\n"
            text += broken(foreign_call(function, "_HEAP", cast, "Table.segment(%s)"), "        ") + "\n      }\n"
        text += broken(call, "      ") + "\n    } catch (Throwable unexpected) {\n      throw Table.impossible(unexpected);\n    }"
        if function.spans():
            text += " finally {\n" + "".join("      Reference.reachabilityFence(%s);\n" % camel(name) for name, _, _ in function.spans()) + "    }"
        text += "\n  }\n"
    return text + "}\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(HEADER + text)


def main():
    api_path, folder = sys.argv[1:]
    with open(api_path, encoding="utf-8") as file:
        api = json.load(file)
    missing = [enum["name"] for enum in api["enums"] if enum["name"] not in ENUMS]
    if missing:
        raise SystemExit("java_types.py has no Java name for: %s" % ", ".join(missing))
    functions = functions_of(api)
    main_code = folder + "/routecap/src/main/java/io/github/routecap/"
    for enum in api["enums"]:
        write(main_code + ENUMS[enum["name"]][0] + ".java", enum_text(enum))
    for struct in api["structs"]:
        if struct["name"] in FILLED:
            write(main_code + FILLED[struct["name"]] + ".java", record_text(struct))
    write(main_code + "internal/Layouts.java", layouts_text(api["structs"]))
    write(main_code + "internal/NativeApi.java", interface_text(functions))
    write(main_code + "internal/jni/JniApi.java", jni_text(functions))
    write(folder + "/routecap-ffm/src/main/java22/io/github/routecap/ffm/FfmFunctions.java", ffm_text(functions, api))


if __name__ == "__main__":
    main()
