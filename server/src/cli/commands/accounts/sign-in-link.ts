import { readConfig } from '../../../config/environment.ts'
import { localUrl } from '../../../app/start-gateway.ts'
import { findFirstAdmin } from '../../../management/identity/sessions/setup-link.ts'
import { makeSignInLink, signInLinkUrl } from '../../../management/identity/sessions/sign-in-link.ts'
import type { Storage } from '../../../storage/storage.ts'
import { commandLineActor } from '../../command-line-actor.ts'
import { type Console, jsonText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { accountLabel, requireAccount } from '../../find-rows.ts'
import { withStorage } from '../../with-storage.ts'
import type { Account } from '../../../storage/stores/accounts.ts'

export interface SignInLinkFlags {
  readonly json?: boolean
}

/** For an owner without a password yet, and for people who have lost theirs. */
export async function signInLink(
  io: Console,
  reference: string | undefined,
  flags: SignInLinkFlags,
): Promise<void> {
  const { account, link } = await withStorage(io, 'refuse', async (storage) => {
    const found = await findWho(io, storage, reference)
    return { account: found, link: await makeSignInLink(storage, found, commandLineActor(io)) }
  })
  const { publicUrl, host, port } = readConfig(io.environment, io.workingDirectory)
  const url = signInLinkUrl(publicUrl ?? localUrl(host, port), link)
  const until = new Date(link.endsAt).toISOString()
  if (flags.json === true)
    io.out(jsonText({ account: accountLabel(account), account_id: account.id, url, expires_at: until }))
  else io.out(`${url}\nsigns in ${accountLabel(account)} once, until ${until}\n`)
}

async function findWho(io: Console, storage: Storage, reference: string | undefined): Promise<Account> {
  if (reference === undefined) {
    const admin = await findFirstAdmin(storage)
    if (admin !== undefined) return admin
    throw new CommandFailure('missing', 'there is no administrator: name an account (sluice accounts list)')
  }
  const account = await requireAccount(io, storage, reference)
  if (account.kind === 'person') return account
  throw new CommandFailure('failed', `an organisation has no sign-in: name one of its members`)
}
