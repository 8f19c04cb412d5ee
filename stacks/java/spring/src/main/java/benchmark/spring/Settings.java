package benchmark.spring;

import jakarta.validation.constraints.Pattern;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.validation.annotation.Validated;

/**
 * STORE and DB_FILE.
 *
 * @param store with postgres there is /tx
 */
@Validated
@ConfigurationProperties("benchmark")
record Settings(@Pattern(regexp = "sqlite|postgres") String store, String dbFile) {}
