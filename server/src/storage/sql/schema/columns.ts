import type { ColumnType } from 'kysely'

/** Both drivers read every integer as a bigint; either is written. */
export type Integer = ColumnType<bigint, bigint | number, bigint | number>
