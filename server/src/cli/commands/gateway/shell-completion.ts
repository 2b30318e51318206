/** Scripts that let a shell complete commands and options. Generated from the program itself, so they are complete. */
import type { Command, Option } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A command or a group of commands, with its words, each preceded by a space; empty for the program itself. */
interface Place {
  readonly path: string
  readonly words: readonly { readonly word: string; readonly description: string }[]
  readonly options: readonly Option[]
}

export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program, '')
  switch (shell) {
    case 'bash':
      return bashScript(places)
    case 'zsh':
      return zshScript(places)
    case 'fish':
      return fishScript(places)
  }
}

function placesOf(command: Command, path: string): readonly Place[] {
  const words = command.commands.map((below) => ({ word: below.name(), description: below.description() }))
  const below = command.commands.flatMap((one) => placesOf(one, `${path} ${one.name()}`))
  return [{ path, words, options: command.options }, ...below]
}

function bashScript(places: readonly Place[]): string {
  const cases = places.map((place) => {
    const words = [...place.words.map(({ word }) => word), ...place.options.map(longOf), '--help']
    return `    ${quoted(place.path)}) candidates=${quoted(words.join(' '))} ;;`
  })
  return `# bash completion of sluice; in ~/.bashrc: source <(sluice completion bash)
_sluice() {
  local current="\${COMP_WORDS[COMP_CWORD]}" here="" candidates="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$here \${COMP_WORDS[index]}" in
      ${knownPaths(places, '|')}) here="$here \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$here" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _sluice sluice
`
}

function zshScript(places: readonly Place[]): string {
  const cases = places.map((place) => {
    const words = place.words.map(({ word, description }) => `${word}:${description}`)
    const options = place.options.map((option) => `${longOf(option)}:${option.description}`)
    return `    ${quoted(place.path)}) candidates=(${[...words, ...options].map((text) => quoted(text)).join(' ')}) ;;`
  })
  return `#compdef sluice
# zsh completion of sluice; in ~/.zshrc: source <(sluice completion zsh)
_sluice() {
  local here="" word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$here $word" in
      ${knownPaths(places, '|')}) here="$here $word" ;;
    esac
  done
  case "$here" in
${cases.join('\n')}
  esac
  _describe sluice candidates || _files
}
if [ "$funcstack[1]" = "_sluice" ]; then _sluice "$@"; else compdef _sluice sluice; fi
`
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap((place) => {
    const at = `complete -c sluice -n ${quoted(`__sluice_at ${quoted(place.path, 'fish')}`, 'fish')}`
    return [
      ...place.words.map(({ word, description }) => `${at} -a ${word} -d ${quoted(description, 'fish')}`),
      ...place.options.map(
        (option) => `${at} ${fishOption(option)} -d ${quoted(option.description, 'fish')}`,
      ),
    ]
  })
  return `# fish completion of sluice; in ~/.config/fish/config.fish: sluice completion fish | source
function __sluice_at
  set -l here ""
  set -l words (commandline -opc)
  for word in $words[2..-1]
    switch "$here $word"
      case ${knownPaths(places, ' ', 'fish')}
        set here "$here $word"
    end
  end
  test "$here" = "$argv[1]"
end
complete -c sluice -f
${lines.join('\n')}
`
}

/** After an option with a value the value is completed; for files, a path. */
function fishOption(option: Option): string {
  const short = option.short === undefined ? '' : `-s ${option.short.slice(1)} `
  const value = option.required ? (option.flags.includes('<path>') ? ' -r -F' : ' -x') : ''
  return `${short}-l ${longOf(option).slice(2)}${value}`
}

function knownPaths(places: readonly Place[], separator: string, shell: 'fish' | 'posix' = 'posix'): string {
  return places
    .filter(({ path }) => path !== '')
    .map(({ path }) => quoted(path, shell))
    .join(separator)
}

function longOf(option: Option): string {
  return option.long ?? option.flags
}

/** Within single quotes only the quote itself is special; in fish also the backslash. */
function quoted(text: string, shell: 'fish' | 'posix' = 'posix'): string {
  return shell === 'fish'
    ? `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : `'${text.replaceAll("'", "'\\''")}'`
}
