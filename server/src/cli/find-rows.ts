import { readConfig } from '../config/environment.ts'
import { keyId } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import { eachAccount, findAccount } from '../management/accounts/accounts.ts'
import { hashKeySecret } from '../management/keys/keys.ts'
import type { Storage } from '../storage/storage.ts'
import type { Console } from './console.ts'
import { CommandFailure } from './exit-codes.ts'
import type { Account } from '../storage/stores/accounts.ts'
import type { Key } from '../storage/stores/keys.ts'

/** By id, e-mail address or phone number, in the configured country if the number has no country code. */
export async function requireAccount(io: Console, storage: Storage, reference: string): Promise<Account> {
  const { phoneRegion } = readConfig(io.environment, io.workingDirectory)
  const account = await findAccount(storage, reference, { phoneRegion })
  if (account !== undefined) return account
  throw new CommandFailure('missing', `there is no account ${reference}: sluice accounts list shows them all`)
}

/** By id, by the hint that lists show, or by the whole key (such as a leaked one). */
export async function requireKey(storage: Storage, reference: string): Promise<Key> {
  const text = reference.trim()
  const exact =
    (await storage.keys.find(keyId(text))) ?? (await storage.keys.findByHash(hashKeySecret(new Secret(text))))
  if (exact !== undefined) return exact
  const hint = text.replace(/\u2026$/, '')
  const alike: Key[] = []
  for await (const account of eachAccount(storage)) {
    const keys = await storage.keys.list(account.id)
    alike.push(...keys.filter((key) => key.hint === hint))
  }
  const [found, another] = alike
  if (found === undefined) {
    throw new CommandFailure('missing', 'there is no such key: sluice keys list shows their ids')
  }
  if (another !== undefined) {
    throw new CommandFailure(
      'missing',
      `several keys begin with ${hint}: name one by its id (sluice keys list)`,
    )
  }
  return found
}

export function accountLabel(account: Pick<Account, 'email' | 'phone' | 'id'>): string {
  return account.email ?? account.phone ?? account.id
}
