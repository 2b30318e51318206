import { DIALECTS, type EngineName, type Migration } from './dialect.ts'

/** When each model was added to the catalogue. For existing ones it is only known that the database is older. */
export const modelCreation: Migration = { version: 27, name: 'creation of models', statements }

function statements(engine: EngineName): readonly string[] {
  const { integer } = DIALECTS[engine]
  return [
    `alter table models add column created_at ${integer} not null default 0`,
    `update models set created_at = (select min(applied_at) from schema_migrations)`,
  ]
}
