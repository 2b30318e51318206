/** The storage port over any SQL engine: the engines differ, the results do not. */
import { type Kysely, sql } from 'kysely'
import type { InstanceId } from '../../core/ids.ts'
import type { AuditedStores } from '../stores/audit.ts'
import type { SecretBox } from '../secret-box.ts'
import type { Storage } from '../storage.ts'
import { createAccountStore } from './accounts/accounts.ts'
import { type AnnouncedWrite, createAnnouncedWrite } from './announced-write.ts'
import { createAuditStore } from './operations/audit.ts'
import { createNoticeStore } from './operations/notices.ts'
import { createPriceStore } from './operations/prices.ts'
import { createCallStore } from './calls/calls.ts'
import { createCatalogueStore } from './catalogue/catalogue.ts'
import type { SqlEngine, StorageLog } from './engine.ts'
import { createIdentityStore } from './identity.ts'
import { forgetInstance } from './instances.ts'
import { createKeyStore } from './accounts/keys.ts'
import { createLedgerStore } from './ledger/ledger.ts'
import { createLogStore } from './logs/logs.ts'
import { createCustomerStore } from './customers/customer-store.ts'
import { createOrganisationStore } from './organisations/organisation-store.ts'
import type { Schema } from './schema.ts'
import { newRowId } from './new-row-id.ts'
import { Subscribers } from './announcement.ts'
import { createTopUpStore } from './top-up/top-up-store.ts'
import { createTurnStore } from './turns/turns.ts'
import { createVideoStore } from './videos/videos.ts'
import type { Announcement } from '../announcement.ts'

export interface SqlStorageOptions {
  readonly engine: SqlEngine
  readonly secrets: SecretBox
  readonly instanceId: InstanceId
  readonly now: () => number
  readonly log: StorageLog
}

export function createSqlStorage(options: SqlStorageOptions): Storage {
  const { engine, secrets, log, now } = options
  const subscribers = new Subscribers(log)
  engine.onAnnouncement((change) => subscribers.tell(change))
  const newId = () => newRowId(now())
  const announceHere = (change: Announcement) => subscribers.tell(change)
  const write = createAnnouncedWrite(engine, announceHere)
  const group = engine.openHotQueue()
  /** The stores whose writes an audited act may share: over their own transactions, or all in one. */
  const storesOver = (reader: Kysely<Schema>, within: AnnouncedWrite): AuditedStores => ({
    catalogue: createCatalogueStore({ engine, reader, write: within, secrets, newId, now }),
    accounts: createAccountStore({ engine, reader, write: within, secrets, now, newId }),
    keys: createKeyStore({ reader, write: within }),
    ledger: createLedgerStore(engine, reader, within),
    customers: createCustomerStore({ engine, write: within, secrets, now }),
    organisations: createOrganisationStore({ engine, reader, write: within, newId }),
    identity: createIdentityStore({ engine, reader, write: within, secrets }),
    notices: createNoticeStore(reader, within),
    prices: createPriceStore(reader, within),
    topUps: createTopUpStore({ engine, reader, write: within }),
  })
  return {
    ...storesOver(engine.reader, write),
    calls: createCallStore({ engine, group, log, newId, announceHere }),
    logs: createLogStore(engine),
    turns: createTurnStore({ engine, secrets }),
    audit: createAuditStore({ engine, write, storesIn: storesOver }),
    videos: createVideoStore({ engine, write, instance: options.instanceId }),
    ping: async () => {
      await sql`select 1 as one from meta`.execute(engine.reader)
    },
    subscribe: (listener) => subscribers.add(listener),
    close: once(async () => {
      await group.close()
      try {
        await forgetInstance(engine.writer, { id: options.instanceId })
      } finally {
        await engine.close()
      }
    }),
  }
}

/** A repeated call waits for the same work. */
function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => {
    running ??= work()
    return running
  }
}
