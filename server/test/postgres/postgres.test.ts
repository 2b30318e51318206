import pg from 'pg'
import { expect, test } from 'vitest'
import { createFreshDatabase } from './fresh-database.ts'

test('the launcher gives every caller an empty database on a real PostgreSQL server', async () => {
  const [first, second] = await Promise.all([createFreshDatabase(), createFreshDatabase()])
  const client = new pg.Client({ connectionString: first.url })
  await client.connect()
  await client.query('create table only_here (id int)')
  const other = new pg.Client({ connectionString: second.url })
  await other.connect()
  await expect(other.query('select * from only_here')).rejects.toThrow('does not exist')
  await Promise.all([client.end(), other.end()])
  await Promise.all([first.drop(), second.drop()])
})
