/** Every command that a document, a page or a message names exists, with the options it is shown with. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from './program.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const FOLDERS = ['docs', 'server/src', 'console/src']
const TEXTS = /(?<!\.test)\.(?:md|tsx?|json)$/
/** In code marks, as a line of a script, or after `npx`. In programs, marks begin a string. */
const COMMANDS = /`(?:npx )?sluice ([^`\n]+)`|^(?:npx )?sluice (.+)$|\bnpx sluice ([a-z][^`'"”\n$]*)/gm
const COMMANDS_IN_PROGRAMS = /\bnpx sluice ([a-z][^`'"”\n$]*)/g

const files = ['README.md', ...FOLDERS.flatMap(filesOf)]

function filesOf(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => TEXTS.test(name))
    .map((name) => join(folder, name))
}

const commandsIn = (file: string) => (file.endsWith('.md') ? COMMANDS : COMMANDS_IN_PROGRAMS)

const program = createProgram({
  environment: {},
  workingDirectory: ROOT,
  now: () => 0,
  out: () => undefined,
  err: () => undefined,
  readInput: async () => '',
})

/** What is wrong with the words behind `sluice`; undefined: nothing. */
function faultOf(words: readonly string[]): string | undefined {
  let command: Command = program
  for (const [index, word] of words.entries()) {
    if (word.startsWith('--')) {
      const [name = ''] = word.split(/[=|,]/)
      const isKnown = [...command.options, ...program.options].some(({ long }) => long === name)
      if (!isKnown && name !== '--help') return `${command.name()} has no option ${name}`
      continue
    }
    if (command.commands.length === 0) continue
    const found = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
    // `sluice videos` alone names the whole group.
    if (found === undefined) return `${words.slice(0, index).join(' ')} has no command ${word}`
    command = found
  }
  return undefined
}

test('commands that are shown exist', () => {
  const shown = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(commandsIn(file))].map((match) => {
      const text = (match[1] ?? match[2] ?? match[3] ?? '').split(/ [|>&#]|;|\)| \\/)[0] ?? ''
      const words = text.split(' ').filter((word) => /^(?:--)?[a-z]/.test(word))
      return { file, text, fault: faultOf(words) }
    }),
  )
  expect(shown.length).toBeGreaterThan(100)
  expect(shown.filter(({ fault }) => fault !== undefined)).toEqual([])
})

test.each([
  [['accounts', 'adjust'], 'accounts has no command adjust'],
  [['verify', '--loud'], 'verify has no option --loud'],
  [['verify', '--json'], undefined],
])('%s', (words, fault) => {
  expect(faultOf(words)).toBe(fault)
})
