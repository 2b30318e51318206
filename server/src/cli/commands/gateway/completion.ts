import type { Command } from 'commander'
import type { Console } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { completionScript, SHELLS } from './shell-completion.ts'

/** `program`: the program whose commands are completed. */
export function completion(io: Console, program: Command, name: string): void {
  const shell = SHELLS.find((one) => one === name)
  if (shell === undefined)
    throw new CommandFailure('mistakes', `the shell must be one of ${SHELLS.join(', ')}`)
  io.out(completionScript(program, shell))
}
