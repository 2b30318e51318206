import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Empty } from '../parts/page/empty.tsx'
import { LinkButton } from '../parts/page/link-button.tsx'

export function NotFound() {
  const { t } = useTranslation()
  return (
    <Empty
      icon="search"
      title={t('notFound.title')}
      action={
        <Button component={LinkButton} to="/" variant="default">
          {t('notFound.home')}
        </Button>
      }
    >
      {t('notFound.text')}
    </Empty>
  )
}
