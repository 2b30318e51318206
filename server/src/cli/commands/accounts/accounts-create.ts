import type { JsonObject } from '../../../core/json.ts'
import { readConfig } from '../../../config/environment.ts'
import { addAccount } from '../../../management/admin/edit-account.ts'
import { vendorKinds } from '../../../providers/index.ts'
import { commandLineActor } from '../../command-line-actor.ts'
import { type Console, jsonText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { withStorage } from '../../with-storage.ts'

export interface AccountCreateFlags {
  readonly role?: string
  readonly credits?: string
  readonly key?: string
  readonly json?: boolean
}

/** The same as an administrator over the API, with the same checks. A key is only shown now. */
export async function accountsCreate(io: Console, login: string, flags: AccountCreateFlags): Promise<void> {
  const { phoneRegion } = readConfig(io.environment, io.workingDirectory)
  const body: JsonObject = {
    ...(login.includes('@') ? { email: login } : { phone: login }),
    ...(flags.role === undefined ? {} : { role: flags.role }),
    ...(flags.credits === undefined ? {} : { credits: flags.credits }),
    ...(flags.key === undefined ? {} : { keys: [{ name: flags.key }] }),
  }
  const outcome = await withStorage(io, 'refuse', (storage) =>
    addAccount({ storage, kinds: vendorKinds, phoneRegion }, body, commandLineActor(io)),
  )
  if (outcome.kind === 'mistakes')
    throw new CommandFailure(
      'mistakes',
      outcome.mistakes.map(({ path, message }) => `${path} ${message.text}`.trim()).join('\n'),
    )
  if (outcome.kind !== 'done') throw new CommandFailure('failed', 'the account was not created')
  const { id, newKeys } = outcome.value
  const [key] = newKeys
  const secret = key?.plaintext.unwrap()
  if (flags.json === true) {
    io.out(jsonText({ id, account: login, key: secret ?? null }))
    return
  }
  io.out(`${id}\n`)
  if (secret !== undefined) io.out(`${secret}\n`)
  io.err(`${login} was created${secret === undefined ? '' : '; its key is shown only now'}\n`)
}
