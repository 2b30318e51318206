import type { Row } from './measures.ts'
import type { Group } from './search.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** The id of the group that sums the groups not listed individually. */
export const OTHERS = '(other)'

/** The dimension that rows are split by. */
export interface Groups {
  /** The id of the group that a row belongs to; empty: of none. */
  readonly idOf: (row: Row) => string
  readonly nameOf: (id: string) => string
}

const IDS: Readonly<Record<Group, (row: Row) => string | null | undefined>> = {
  model: ({ model }) => model,
  key: ({ key_id: id }) => id,
  app: ({ app_id: id }) => id,
  member: ({ member }) => member,
  account: ({ account_id: id }) => id,
}

/** @param names names of groups by id; others are shown by id */
export function useGroupsBy(by: Group, names: ReadonlyMap<string, string>): Groups {
  const { t } = useTranslation()
  return {
    idOf: (row) => IDS[by](row) ?? '',
    nameOf: (id) => {
      if (id === '') return t(`usage.none.${by}`)
      return id === OTHERS ? t('overview.others') : (names.get(id) ?? id)
    },
  }
}
