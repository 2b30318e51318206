/** A database of one's own on the run's server. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { newestSchema } from '../../src/storage/sql/migrate.ts'
import { migrateDatabase } from '../storage/migrated-database.ts'
import { RUN_VARIABLE, serverUrl } from './server.ts'

export interface FreshDatabase {
  readonly url: string
  /** Removes it, whoever is still connected. */
  drop(): Promise<void>
}

/** As before the first start. */
export async function createFreshDatabase(): Promise<FreshDatabase> {
  return create(await serverUrl(), 'template1')
}

let template: Promise<string> | undefined

/** All tables and no rows, as the first start leaves it: a copy of one that is migrated once for the whole run. */
export async function createMigratedDatabase(): Promise<FreshDatabase> {
  const server = await serverUrl()
  template ??= placeTemplate(server)
  return create(server, await template)
}

async function create(server: string, copyOf: string): Promise<FreshDatabase> {
  const name = `sluice_${randomUUID().replaceAll('-', '')}`
  strategy ??= chooseStrategy(server)
  await run(server, `create database ${name} template ${copyOf} ${await strategy}`)
  return { url: urlOf(server, name), drop: () => run(server, `drop database if exists ${name} with (force)`) }
}

let strategy: Promise<string> | undefined

/** Copies files, as PostgreSQL 14 always does: through the log, as newer ones do by themselves, takes four times as long. */
async function chooseStrategy(server: string): Promise<string> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
    return Number(rows[0]?.server_version_num) < 150_000 ? '' : 'strategy file_copy'
  } finally {
    await client.end()
  }
}

const templateName = (): string =>
  `sluice_template_${process.env[RUN_VARIABLE] ?? process.pid}_${newestSchema()}`

/** By whichever thread of the run is first; it has its name once it is whole. */
async function placeTemplate(server: string): Promise<string> {
  const name = templateName()
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount !== 0) return name
    await client.query(`drop database if exists ${name}_unfinished`)
    await client.query(`create database ${name}_unfinished`)
    await migrateDatabase({ databaseUrl: urlOf(server, `${name}_unfinished`), dataDir: '/nonexistent' })
    await client.query(`alter database ${name}_unfinished rename to ${name}`)
    return name
  } finally {
    await client.end()
  }
}

/** From a server that goes on after the run. */
export async function dropTemplate(): Promise<void> {
  const given = process.env['TEST_DATABASE_URL']
  if (given !== undefined && given !== '') await run(given, `drop database if exists ${templateName()}`)
}

function urlOf(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
