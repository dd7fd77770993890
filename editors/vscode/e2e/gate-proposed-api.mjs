// node gate-proposed-api.mjs FOLDER_OF_CODE_SERVER
// code-server lets every extension call proposed API, which released VS Code refuses. This puts the refusal back, so that an extension
// that calls any fails here as it would there. Built-in extensions keep theirs.
import fs from "node:fs";

const file = `${process.argv[2]}/lib/vscode/out/vs/workbench/api/node/extensionHostProcess.js`;
const open =
  /function (\w+)\((\w+),(\w+)\)\{return!0\}(function \w+\(\w+,\w+\)\{if\(!\1\(\w+,\w+\)\)throw new Error\(`Extension '\$\{\w+\.identifier\.value\}' CANNOT use API proposal)/;
const source = fs.readFileSync(file, "utf8");
if (!open.test(source)) {
  console.error(`gate-proposed-api: no open gate found in ${file}`);
  process.exit(1);
}
const gated = source.replace(
  open,
  (_, name, extension, proposal, rest) => `function ${name}(${extension},${proposal}){return ${extension}.identifier.value.startsWith("vscode.")}${rest}`,
);
fs.writeFileSync(file, gated);
