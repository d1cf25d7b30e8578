#include "cli/init/init_options.h"

#include <algorithm>
#include <set>

#include "cli/arguments.h"

namespace pstrain {

const char* const kInitUsage =
    "usage: pstrain init DATA.csv --label COLUMN [options]\n"
    "\n"
    "Writes a manifest that trains a model on a CSV file (gzip too): columns, types, "
    "vocabularies,\n"
    "means and deviations are those of its first 16 MiB. Comments in it say why each choice is as\n"
    "it is. `pstrain run` takes the manifest as it is.\n"
    "\n"
    "  --label COLUMN      the column that is to be predicted\n"
    "  --eval FILE         records of the same form that are not trained on: the model is scored\n"
    "                      on them\n"
    "  --output FILE       where the manifest goes (default job.yaml; - is standard output)\n"
    "  --force             replace that file\n"
    "  --columns A,B,...   the names of the columns, for a file without a header\n"
    "  --header            the first line is a header, even if it looks like data\n"
    "  --delimiter C       what is between two fields, \"tab\" for a tab (default: found out)\n"
    "  --missing TEXT      what marks a missing value, beside the empty field (default: found "
    "out)\n"
    "  --positive TEXT     a label that counts as 1, all others count as 0; may be repeated\n"
    "  --ignore COLUMN     a column that the model does not see; may be repeated\n"
    "  --category COLUMN   a column whose numbers are names of categories; may be repeated\n"
    "  --name NAME         the name of the job (default: that of the file)\n"
    "\n"
    "example: pstrain init patients.csv --label malignant --output job.yaml\n"
    "exit code: 0 written, 1 the file cannot be written, 2 wrong usage, or data that make no job\n";

namespace {

Result<char> DelimiterOf(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() == 1 && text != "\"" && text != "\n" && text != "\r") return text.front();
  return InvalidArgumentError("--delimiter " + text +
                              ": give one character that is no quote, or tab");
}

Result<std::vector<std::string>> NamesOf(const std::string& text) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    if (names.back().empty()) {
      return InvalidArgumentError("--columns: name " + std::to_string(names.size()) +
                                  " is empty; the form is A,B,C");
    }
    if (!seen.insert(names.back()).second) {
      return InvalidArgumentError("--columns: " + names.back() + " is there twice");
    }
    begin = end + 1;
  }
  return names;
}

}  // namespace

Result<InitOptions> ParseInitOptions(const std::vector<std::string>& args) {
  InitOptions options;
  std::string columns;
  std::string delimiter;
  std::vector<std::string> missing;
  ArgumentParser parser;
  parser.AddValue("--label", options.label);
  parser.AddValue("--eval", options.eval_file);
  parser.AddValue("--output", options.output);
  parser.AddFlag("--force", options.force);
  parser.AddValue("--columns", columns);
  parser.AddFlag("--header", options.header);
  parser.AddValue("--delimiter", delimiter);
  parser.AddList("--missing", missing);
  parser.AddList("--positive", options.positive);
  parser.AddList("--ignore", options.ignore);
  parser.AddList("--category", options.categories);
  parser.AddValue("--name", options.name);
  parser.AddFlag("--help", options.help);
  parser.AddFlag("-h", options.help);
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<std::string> positionals, parser.Parse(args));
  if (options.help) return options;
  if (positionals.size() != 1) {
    return InvalidArgumentError("give one file: pstrain init DATA.csv --label COLUMN");
  }
  options.file = positionals.front();
  if (options.label.empty()) {
    return InvalidArgumentError("no --label is given: which column is to be predicted?");
  }
  if (!delimiter.empty()) {
    PSTRAIN_ASSIGN_OR_RETURN(options.delimiter, DelimiterOf(delimiter));
  }
  if (missing.size() > 1) return InvalidArgumentError("--missing: a job has one such text");
  if (!missing.empty()) options.missing = missing.front();
  if (!columns.empty()) {
    PSTRAIN_ASSIGN_OR_RETURN(options.columns, NamesOf(columns));
  }
  return options;
}

}  // namespace pstrain
