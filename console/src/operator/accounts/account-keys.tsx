import { ActionIcon } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type AnyAccount, deleteKeyOf } from '../../api/operator/accounts.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import sheet from '../../parts/forms/sheet.module.css'
import { usePolicyWords } from '../../parts/limits/use-policy-words.ts'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import { Icon } from '../../parts/marks/icon.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { KeyName } from '../parts/key-name.tsx'

type Key = AnyAccount['keys'][number]

/** The keys of an account, none of their secrets. */
export function AccountKeys({ of }: { readonly of: AnyAccount }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [deleting, ask] = useState<Key>()
  const columns = useColumns(ask)
  return (
    <section className={sheet.part}>
      <h3>{t('pages.keys')}</h3>
      {of.keys.length === 0 ? (
        <p className={sheet.note}>{t('accounts.noKeys')}</p>
      ) : (
        <DataTable
          label={t('pages.keys')}
          rows={of.keys}
          idOf={({ id }) => id}
          isQuiet={({ status }) => status === 'disabled'}
          columns={columns}
        />
      )}
      {deleting !== undefined && (
        <Confirm
          title={t('keys.deleteTitle')}
          action={t('keys.delete')}
          onClose={() => ask(undefined)}
          onConfirm={async () => {
            await deleteKeyOf(of.id, deleting.id)
            await queryClient.invalidateQueries({ queryKey: ['accounts'] })
          }}
        >
          <Marked text={t('keys.deleteText', { name: deleting.name, hint: deleting.hint })} />
        </Confirm>
      )}
    </section>
  )
}

function useColumns(onDelete: (key: Key) => void): readonly Column<Key>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const policyWords = usePolicyWords()
  return [
    {
      id: 'name',
      head: t('keys.name'),
      cell: (key) => <KeyName of={key} />,
    },
    {
      id: 'limits',
      head: t('keys.limits'),
      kind: 'muted',
      cell: ({ status, policy }) => (status === 'disabled' ? t('keys.states.disabled') : policyWords(policy)),
    },
    {
      id: 'expires',
      head: t('keys.expires'),
      kind: 'muted',
      wide: true,
      cell: ({ expires_at: at }) => (at === null ? t('keys.never') : format.date(at)),
    },
    {
      id: 'actions',
      head: <span className={table.unseen}>{t('actions')}</span>,
      kind: 'actions',
      cell: (key) => (
        <ActionIcon
          size="sm"
          aria-label={t('accounts.deleteKey', { name: key.name })}
          onClick={() => onDelete(key)}
        >
          <Icon name="trash" />
        </ActionIcon>
      ),
    },
  ]
}
