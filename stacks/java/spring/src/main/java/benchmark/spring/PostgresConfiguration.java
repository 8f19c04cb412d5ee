package benchmark.spring;

import static io.r2dbc.postgresql.PostgresqlConnectionFactoryProvider.PREPARED_STATEMENT_CACHE_QUERIES;

import benchmark.UsageException;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.r2dbc.autoconfigure.ConnectionFactoryOptionsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.r2dbc.core.DatabaseClient;

/** Is in use with STORE=postgres. */
@Profile("postgres")
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(Postgres.class)
class PostgresConfiguration {

  @Bean
  ConnectionFactoryOptionsBuilderCustomizer prepare(Postgres postgres) {
    return options -> options.option(PREPARED_STATEMENT_CACHE_QUERIES, postgres.prepare() ? -1 : 0);
  }

  /** Without Postgres, the server does not start. */
  @Bean
  InitializingBean connect(DatabaseClient client) {
    return () -> {
      try {
        client.sql("SELECT 1").then().block();
      } catch (RuntimeException e) {
        String reason = NestedExceptionUtils.getMostSpecificCause(e).getMessage();
        throw new UsageException(
            "Postgres cannot be used (%s): start it, or fix DATABASE_URL".formatted(reason));
      }
    };
  }
}
