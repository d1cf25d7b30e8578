"""Whether a .proto of ours describes another program's format as that program does."""
import re

OPENED = re.compile(r"\s*(message|enum|oneof) (\w+) \{")
FIELD = re.compile(r"\s*(?:(?:repeated )?(?:map<.*>|[\w.]+) )?(\w+) = (\d+);")


def check(path, messages, enums):
    """Each field and value of the file has its name and number: `messages` are the classes of the
    format by our names for them, `enums` its enums by that of ours, below a message with its name."""
    scopes, checked = [], 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            opened, field = OPENED.match(line), FIELD.match(line)
            if opened:
                # A field of a oneof is one of its message.
                scopes.append(scopes[-1] if opened[1] == "oneof" else opened[2])
            elif line.strip() == "}":
                scopes.pop()
            elif field and scopes:
                name, number = field[1], int(field[2])
                if scopes[-1] in messages:
                    found = messages[scopes[-1]].DESCRIPTOR.fields_by_name[name].number
                else:
                    found = enums[".".join(scopes[-2:])].Value(name)
                assert found == number, (scopes, name, found)
                checked += 1
    assert checked > 30, checked
