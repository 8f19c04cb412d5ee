package benchmark.spring;

import static io.r2dbc.postgresql.PostgresqlConnectionFactoryProvider.PREPARED_STATEMENT_CACHE_QUERIES;

import benchmark.UsageException;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import java.util.Map;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.r2dbc.autoconfigure.ConnectionFactoryOptionsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.validation.annotation.Validated;

/** Configuration that Spring Boot does not make by itself if STORE is postgres. */
@Profile("postgres")
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(Postgres.Settings.class)
class Postgres {

  /**
   * The variables POSTGRES_*.
   *
   * @param pool the most connections
   * @param prepare whether statements are prepared on the server, once per connection
   * @param tx how POST /tx runs pgbench's transaction
   */
  @Validated
  @ConfigurationProperties("postgres")
  record Settings(
      @DefaultValue("r2dbc") @Pattern(regexp = "r2dbc") String client,
      @DefaultValue("10") @Min(1) @Max(1000) int pool,
      @DefaultValue("true") boolean prepare,
      @DefaultValue("statements") @Pattern(regexp = "statements|function") String tx) {

    /** The store in the answer to {@code GET /}. */
    Map<String, Object> identity() {
      String version = PostgresqlConnectionFactory.class.getPackage().getImplementationVersion();
      String driver = client + " " + version;
      return Map.of(
          "name", "postgres", "driver", driver, "pool", pool, "prepare", prepare, "tx", tx);
    }
  }

  /** DATABASE_URL without user and password. */
  private final String url;

  Postgres(@Value("${spring.r2dbc.url}") String url) {
    this.url = url.replaceAll("^r2dbc:|(?<=//).*@", "");
  }

  @Bean
  ConnectionFactoryOptionsBuilderCustomizer prepare(Settings settings) {
    if (!url.matches("postgres(ql)?://.+")) {
      throw new UsageException(
          "DATABASE_URL is \"%s\": set it to postgres://USER@HOST/DATABASE".formatted(url));
    }
    return options -> options.option(PREPARED_STATEMENT_CACHE_QUERIES, settings.prepare() ? -1 : 0);
  }

  /** If Postgres cannot be reached, the server does not start. */
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
