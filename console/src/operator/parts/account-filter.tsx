import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { accountsQuery, anyAccountQuery } from '../../api/operator/accounts.ts'
import { namesOf } from './account-name.ts'
import operator from './operator.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

interface AccountFilterProps {
  /** The label; “Account” when absent. */
  readonly label?: string
  /** The id of the chosen account. */
  readonly value: string | undefined
  readonly onChange: (id: string | undefined) => void
}

/** Ms without typing before the search begins. */
const TYPING_MS = 200
const ROWS_MAX = 20

/** Chooses an account; the gateway searches while the person types. */
export function AccountFilter({ label: asked, value, onChange }: AccountFilterProps) {
  const { t } = useTranslation()
  const label = asked ?? t('operate.account')
  const [typed, type] = useState('')
  const [search] = useDebouncedValue(typed.trim(), TYPING_MS)
  const { data: chosen } = useQuery({ ...anyAccountQuery(value ?? ''), enabled: value !== undefined })
  // The field holds the name of the chosen account, which is not searched for.
  const isName = chosen !== undefined && search === namesOf(chosen).name
  const { data: found } = useInfiniteQuery({
    ...accountsQuery(search === '' || isName ? {} : { search }),
    placeholderData: keepPreviousData,
  })
  const rows = (found?.pages ?? []).flatMap(({ data }) => data).slice(0, ROWS_MAX)
  const all = chosen === undefined || rows.some(({ id }) => id === chosen.id) ? rows : [chosen, ...rows]
  return (
    <Select
      size="xs"
      searchable
      clearable
      aria-label={label}
      placeholder={label}
      className={operator.accountFilter ?? ''}
      clearButtonProps={{ 'aria-label': t('clearFilter', { name: label }) }}
      comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
      nothingFoundMessage={t('frame.nothingFound')}
      filter={({ options }) => options}
      data={all.map((account) => ({ value: account.id, label: namesOf(account).name }))}
      value={value ?? null}
      onSearchChange={type}
      onChange={(id) => onChange(id ?? undefined)}
    />
  )
}
