import { join } from 'node:path'
import { loadTypeScript } from '../project/load-typescript.mjs'
import { root } from '../project/tree.mjs'

const HEAD = `# The command line

\`npx sluice …\` from the root of the repository. Every command reads the same [environment](configuration.md) as the
gateway and works on its database, beside a running gateway or without one; a running one acts on the change within a second.
Tables are for people, \`--json\` is for programs; keys and exports go to standard output, remarks to standard error.

This page is written by \`tools/reference.mjs\` from \`server/src/cli/program.ts\` and \`server/src/cli/exit-codes.ts\`.
`

export async function commandLinePage() {
  const { createProgram } = await loadTypeScript(join(root, 'server/src/cli/program.ts'))
  const { EXIT_CODES } = await loadTypeScript(join(root, 'server/src/cli/exit-codes.ts'))
  const nothing = () => {}
  const program = createProgram({ out: nothing, err: nothing })
  const exits = Object.values(EXIT_CODES).map(({ code, meaning }) => `| ${code} | ${cell(meaning)} |`)
  return `${HEAD}\n${leaves(program).map(section).join('\n')}\n## Exit codes\n\n| code | meaning |\n|---|---|\n${exits.join('\n')}\n`
}

/** Commands that do something, each with its whole name. */
function leaves(command, name = 'sluice') {
  if (command.commands.length === 0) return [{ command, name }]
  return command.commands.flatMap((below) => leaves(below, `${name} ${below.name()}`))
}

function section({ command, name }) {
  const rows = [
    ...command.registeredArguments.map((argument) => [usageOf(argument), argument.description]),
    ...command.options.map((option) => [option.flags, option.description + always(option)]),
  ]
  const title = [name, ...command.registeredArguments.map(usageOf)].join(' ')
  const table = rows.map(([left, right]) => `| \`${cell(left)}\` | ${cell(right)} |`)
  const options = table.length === 0 ? '' : `\n| | |\n|---|---|\n${table.join('\n')}\n`
  return `## \`${title}\`\n\n${sentence(command.description())}${otherName(command)}\n${options}`
}

const otherName = (command) =>
  command.alias() === undefined ? '' : ` Also known as \`sluice ${command.alias()}\`.`

const usageOf = (argument) => (argument.required ? `<${argument.name()}>` : `[${argument.name()}]`)
const always = (option) => (option.mandatory ? ' (required)' : '')
const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
