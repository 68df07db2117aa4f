# SPDX-License-Identifier: Apache-2.0
"""What of a released api.json a newer one breaks. Within one ABI number the API may only grow: functions behind the last slot, fields behind the last
field, values beside those that are there."""


def by_name(items):
    return {item["name"]: item for item in items}


def signature(function):
    parameters = ", ".join(f"{p['type']} {p['name']}" for p in function["parameters"])
    return f"{function['returns']} {function['name']}({parameters})"


def slots_of(api):
    """Slot of every function, those that set up a struct included."""
    slots = {function["name"]: function.get("slot") for function in api["functions"]}
    slots.update({struct["init"]: struct.get("init_slot") for struct in api["structs"] if struct.get("init")})
    return slots


def compare_functions(old, new):
    new_functions = by_name(new["functions"])
    for function in old["functions"]:
        now = new_functions.get(function["name"])
        if now is None:
            yield f"function removed: {signature(function)}"
            continue
        if signature(now) != signature(function):
            yield f"function changed: was `{signature(function)}`, is `{signature(now)}`"
        for before, after in zip(function["parameters"], now["parameters"]):
            if before.get("nullable") and not after.get("nullable"):
                yield f"function changed: {function['name']} took a null for {before['name']}, and no longer does"
    old_slots, new_slots = slots_of(old), slots_of(new)
    taken = [slot for slot in old_slots.values() if slot is not None]
    for name, slot in old_slots.items():
        if name in new_slots and new_slots[name] != slot:
            yield f"slot moved: {name} was in {slot}, is in {new_slots[name]}"
    for name, slot in new_slots.items():
        if name not in old_slots and slot is not None and slot <= max(taken):
            yield f"slot taken: {name} is new and in {slot}; the released table ends with {max(taken)}"


def compare_structs(old, new):
    new_structs = by_name(new["structs"])
    for struct in old["structs"]:
        now = new_structs.get(struct["name"])
        if now is None:
            yield f"struct removed: {struct['name']}"
            continue
        if now["size"] < struct["size"]:
            yield f"struct shrunk: {struct['name']} had {struct['size']} bytes, has {now['size']}"
        fields = by_name(now["fields"])
        known = set()
        for field in struct["fields"]:
            name = f"{struct['name']}.{field['name']}"
            known.add(field["name"])
            after = fields.get(field["name"])
            if after is None:
                yield f"field removed: {name}"
                continue
            if after["offset"] != field["offset"]:
                yield f"field moved: {name} was at {field['offset']}, is at {after['offset']}"
            if (after["type"], after["size"]) != (field["type"], field["size"]):
                yield f"field changed: {name} was {field['type']} of {field['size']} bytes, is {after['type']} of {after['size']}"
            # struct_size is set to the size, which may grow.
            if field["name"] != "struct_size" and after.get("default") != field.get("default"):
                yield f"field's default changed: {name} was {field.get('default')}, is {after.get('default')}"
        for name, field in fields.items():
            if name not in known and field["offset"] < struct["size"]:
                yield f"field inserted: {struct['name']}.{name} at {field['offset']}; the released struct ends at {struct['size']}"


def compare_enums(old, new):
    new_enums = by_name(new["enums"])
    for enum in old["enums"]:
        now = new_enums.get(enum["name"])
        if now is None:
            yield f"enum removed: {enum['name']}"
            continue
        values = {value["name"]: value["value"] for value in now["values"]}
        for value in enum["values"]:
            if value["name"] not in values:
                yield f"enum value removed: {value['name']}"
            elif values[value["name"]] != value["value"]:
                yield f"enum value changed: {value['name']} was {value['value']}, is {values[value['name']]}"
        if not enum.get("flags"):
            released = {value["value"]: value["name"] for value in enum["values"]}
            for name, value in values.items():
                if value in released and name not in {v["name"] for v in enum["values"]}:
                    yield f"enum value reused: {name} is {value}, which is {released[value]}"


def compare_apis(old, new):
    """The differences that break a program of the old release, one line each."""
    if old["soname"] != new["soname"]:
        return [f"SONAME changed: was {old['soname']}, is {new['soname']}"]
    found = []
    if old["abi_version"] != new["abi_version"]:
        found.append(f"ABI number changed under one SONAME: was {old['abi_version']}, is {new['abi_version']}")
    handles = by_name(new["handles"])
    found += [f"handle removed: {handle['name']}" for handle in old["handles"] if handle["name"] not in handles]
    return found + [*compare_functions(old, new), *compare_structs(old, new), *compare_enums(old, new)]


def grown_structs(old, new):
    """Structs that have more bytes than they had; that their old fields stand where they stood is for compare_apis to say."""
    new_structs = by_name(new["structs"])
    return [s["name"] for s in old["structs"] if s["name"] in new_structs and new_structs[s["name"]]["size"] > s["size"]]
