package benchmark.spring;

import static io.r2dbc.postgresql.PostgresqlConnectionFactoryProvider.PREPARED_STATEMENT_CACHE_QUERIES;

import benchmark.UsageException;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.r2dbc.autoconfigure.ConnectionFactoryOptionsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.r2dbc.core.DatabaseClient;

/** What Spring Boot does not set by itself if STORE is postgres. */
@Profile("postgres")
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(Postgres.class)
class PostgresConfiguration {
  /** Without the user and the password. */
  private final String url;

  PostgresConfiguration(@Value("${spring.r2dbc.url}") String url) {
    this.url = url.replaceAll("^r2dbc:|(?<=//).*@", "");
  }

  @Bean
  ConnectionFactoryOptionsBuilderCustomizer prepare(Postgres postgres) {
    if (!url.matches("postgres(ql)?://.+")) {
      throw new UsageException(
          "DATABASE_URL is \"%s\": set it to postgres://USER@HOST/DATABASE".formatted(url));
    }
    return options -> options.option(PREPARED_STATEMENT_CACHE_QUERIES, postgres.prepare() ? -1 : 0);
  }

  /** Without Postgres, the server does not start. */
  @Bean
  InitializingBean connect(DatabaseClient client) {
    return () -> {
      try {
        client.sql("SELECT 1").then().block();
      } catch (RuntimeException e) {
        throw new UsageException(
            "%s cannot be used (%s): start Postgres, or fix DATABASE_URL"
                .formatted(url, NestedExceptionUtils.getMostSpecificCause(e).getMessage()));
      }
    };
  }
}
