import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useIsOwner, useMayManage, useMembership } from '../api/session.ts'
import { Icon } from '../parts/marks/icon.tsx'
import { Empty } from '../parts/page/empty.tsx'
import { late } from '../parts/page/late.ts'
import { PageHead } from '../parts/page/page-head.tsx'
import { useSheetAddress } from '../parts/page/use-sheet-address.ts'
import { Affairs } from './affairs.tsx'
import { Invitations } from './invitations.tsx'
import { Members } from './members.tsx'
import { OwnOrganisations } from './own-organisations.tsx'
import type { OrganisationSearch } from './search.ts'
import { useTranslation } from '../texts/use-translation.ts'

const InviteDialog = late(async () => (await import('./invite-dialog.tsx')).InviteDialog)
const FundDialog = late(async () => (await import('./fund-dialog.tsx')).FundDialog)

const route = getRouteApi('/frame/organisation')

/** The active organisation; when people act for themselves, their organisations and how to create or join one. */
export function OrganisationPage() {
  const { t } = useTranslation()
  const membership = useMembership()
  const { org } = route.useSearch()
  if (org === undefined) {
    return (
      <>
        <PageHead title={t('pages.organisation')} lead={t('organisation.lead')} />
        <OwnOrganisations />
      </>
    )
  }
  return membership === undefined ? null : <One id={membership.id} name={membership.name} />
}

interface OneProps {
  readonly id: string
  readonly name: string
}

function One({ id, name }: OneProps) {
  const { t } = useTranslation()
  const { member, open } = route.useSearch()
  const mayManage = useMayManage()
  const isOwner = useIsOwner()
  const [, sheet] = useSheetAddress<OrganisationSearch, 'member'>('member')
  const [, dialog] = useSheetAddress<OrganisationSearch, 'open'>('open')
  return (
    <>
      <PageHead title={name} lead={t('pages.organisation')}>
        {isOwner && (
          <Button variant="default" onClick={() => dialog.open('fund')}>
            {t('organisation.fund')}
          </Button>
        )}
        {mayManage && (
          <Button leftSection={<Icon name="plus" />} onClick={() => dialog.open('invite')}>
            {t('organisation.invite')}
          </Button>
        )}
      </PageHead>
      {mayManage ? (
        <>
          <Members organisation={id} open={member} sheet={sheet} />
          <Invitations organisation={id} />
        </>
      ) : (
        <Empty icon="organisation" title={t('organisation.member')}>
          {t('organisation.memberHint')}
        </Empty>
      )}
      <Affairs id={id} name={name} />
      <Suspense>
        {open === 'invite' && <InviteDialog organisation={id} onClose={dialog.close} />}
        {open === 'fund' && <FundDialog organisation={id} onClose={dialog.close} />}
      </Suspense>
    </>
  )
}
