import { useQuery } from '@tanstack/react-query'
import { membersOfQuery } from '../../api/operator/accounts.ts'
import sheet from '../../parts/forms/sheet.module.css'
import { DataTable } from '../../parts/lists/data-table.tsx'
import table from '../../parts/lists/table.module.css'
import { Loaded } from '../../parts/page/loaded.tsx'
import { Balance } from '../../parts/values/balance.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** The members of an organisation, each with a link to their own account. */
export function AccountMembers({
  id,
  onOpen,
}: {
  readonly id: string
  readonly onOpen: (id: string) => void
}) {
  const { t } = useTranslation()
  const members = useQuery(membersOfQuery(id))
  return (
    <section className={sheet.part}>
      <h3>{t('accounts.members')}</h3>
      <Loaded query={members} height={80}>
        {(rows) => (
          <DataTable
            label={t('accounts.members')}
            rows={rows}
            idOf={(member) => member.id}
            isQuiet={({ status }) => status === 'suspended'}
            onChoose={({ account_id: account }) => onOpen(account)}
            columns={[
              {
                id: 'who',
                head: t('accounts.account'),
                cell: ({ name, email, phone, account_id: account }) => (
                  <>
                    <span className={table.first}>{name ?? email ?? phone ?? account}</span>
                    {name !== null && <span className={table.second}>{email ?? phone}</span>}
                  </>
                ),
              },
              {
                id: 'role',
                head: t('accounts.role'),
                kind: 'muted',
                cell: ({ role }) => t(`accounts.memberRoles.${role}`),
              },
              {
                id: 'month',
                head: t('accounts.month'),
                kind: 'number',
                cell: ({ month_spent_yuan: spent }) => <Balance value={spent} />,
              },
            ]}
          />
        )}
      </Loaded>
    </section>
  )
}
