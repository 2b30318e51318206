import { useQuery } from '@tanstack/react-query'
import { type GroupKey, groupKeysQuery } from '../../api/operator/groups.ts'
import sheet from '../../parts/forms/sheet.module.css'
import { type Column, DataTable } from '../../parts/lists/data-table.tsx'
import { Loaded } from '../../parts/page/loaded.tsx'
import { AccountLink } from '../parts/account-link.tsx'
import { KeyName } from '../parts/key-name.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** The keys that are bound to a group, each with a link to its account. */
export function GroupKeys({ group }: { readonly group: string }) {
  const { t } = useTranslation()
  const keys = useQuery(groupKeysQuery(group))
  const columns = useColumns()
  return (
    <section className={sheet.part}>
      <h3>{t('platform.boundKeys')}</h3>
      <Loaded query={keys} height={80}>
        {(all) =>
          all.length === 0 ? (
            <p className={sheet.note}>{t('platform.noBoundKeys')}</p>
          ) : (
            <DataTable
              label={t('platform.boundKeys')}
              rows={all}
              idOf={({ id }) => id}
              isQuiet={({ status }) => status !== 'enabled'}
              columns={columns}
            />
          )
        }
      </Loaded>
    </section>
  )
}

function useColumns(): readonly Column<GroupKey>[] {
  const { t } = useTranslation()
  return [
    {
      id: 'key',
      head: t('calls.key'),
      cell: (key) => <KeyName of={key} />,
    },
    {
      id: 'account',
      head: t('operate.account'),
      cell: ({ account_id: id, account_name: name }) => <AccountLink id={id} name={name} />,
    },
    {
      id: 'state',
      head: t('operate.state'),
      kind: 'muted',
      cell: ({ status }) => t(`keys.states.${status}`),
    },
  ]
}
