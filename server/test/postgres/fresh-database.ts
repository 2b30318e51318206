/** An empty database of one's own on the run's server. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { serverUrl } from './server.ts'

export interface FreshDatabase {
  readonly url: string
  /** Removes it, whoever is still connected. */
  drop(): Promise<void>
}

export async function createFreshDatabase(): Promise<FreshDatabase> {
  const server = await serverUrl()
  const name = `sluice_${randomUUID().replaceAll('-', '')}`
  await run(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(server, `drop database if exists ${name} with (force)`) }
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
