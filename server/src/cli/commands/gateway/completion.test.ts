/** The scripts are run by the shells they are for, where those are installed. */
import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandLine, openCommandLine } from '../../../../test/cli/command-line.ts'

let line: CommandLine
beforeAll(async () => {
  line = await openCommandLine()
})
afterAll(() => line.remove())

const scriptOf = async (shell: string) => (await line.sluice(['completion', shell])).out
const isThere = (shell: string) => spawnSync(shell, ['--version']).error === undefined

async function runIn(shell: string, flags: readonly string[], text: string): Promise<string> {
  const { stdout } = await promisify(execFile)(shell, [...flags, '-c', text])
  return stdout.trim()
}

describe('bash', () => {
  const complete = async (...words: readonly string[]) => {
    const given = words.map((word) => `'${word}'`).join(' ')
    return runIn(
      'bash',
      ['--norc'],
      `${await scriptOf('bash')}\nCOMP_WORDS=(${given}); COMP_CWORD=${words.length - 1}; _sluice; echo "\${COMPREPLY[*]}"`,
    )
  }

  test.each([
    ['commands', ['sluice', 'ba'], 'backup'],
    ['commands below a group', ['sluice', 'chains', 'd'], 'disable drain'],
    ['options', ['sluice', 'migrate', '--r'], '--replace'],
    ['options after others', ['sluice', 'logs', '--model', 'm', '--fo'], '--follow'],
    ['nothing where a value goes', ['sluice', 'completion', 'x'], ''],
  ])('completes %s', async (_what, words, expected) => {
    expect(await complete(...words)).toBe(expected)
  })
})

test.skipIf(!isThere('zsh'))('zsh takes its script (where zsh is installed)', async () => {
  expect(await runIn('zsh', ['-f', '-n'], await scriptOf('zsh'))).toBe('')
})

test.skipIf(!isThere('fish'))('fish completes commands and options (where fish is installed)', async () => {
  const script = await scriptOf('fish')
  expect(await runIn('fish', ['--no-config'], `${script}\ncomplete -C 'sluice chains dr'`)).toMatch(/^drain/)
  expect(await runIn('fish', ['--no-config'], `${script}\ncomplete -C 'sluice migrate --re'`)).toMatch(
    /^--replace/,
  )
})

test.each(['bash', 'zsh', 'fish'])('the script for %s knows every command', async (shell) => {
  const script = await scriptOf(shell)
  for (const word of ['start', 'doctor', 'restore', 'chains', 'drain', 'videos', 'completion']) {
    expect(script).toContain(word)
  }
  expect(script).toContain(shell === 'fish' ? '-l json' : '--json')
})

test('another shell is refused', async () => {
  expect(await line.sluice(['completion', 'tcsh'])).toMatchObject({
    code: 3,
    err: 'sluice: the shell must be one of bash, zsh, fish\n',
  })
})

test('npx sluice --help runs from the root of the repository [D-accounts-137]', async () => {
  const root = fileURLToPath(new URL('../../../../..', import.meta.url))
  const { stdout } = await promisify(execFile)('npx', ['sluice', '--help'], { cwd: root })
  expect(stdout).toMatch(/^Usage: sluice \[options\] \[command\]\n/)
  for (const command of ['apply', 'backup', 'chains', 'doctor', 'restore', 'usage', 'verify']) {
    expect(stdout).toMatch(new RegExp(`\n  ${command}\\b`))
  }
})
